"""Finds the mistakes of tables on lines of play, and corrects them ply by ply.

Lines are walked breadth first. When the opponent is to move, every action is followed, or only the best ones, or likely
ones (`LikelyReplies`); when the player is to move, the action of the highest value, or all actions that have it. If the
tables give images of a position the same value, only one image is walked. An expert, the exact solver or a search,
judges the actions. A mistake is an action that lowers the worth of the position for the player. Comparison training
corrects mistakes until the tables make none in any position of the ply. Only then do the lines continue.

Each ply has weights of its own. So training for a ply does not change choices in earlier plies, and one walk is enough.
If the tables cannot distinguish positions of a ply, the walk goes back two plies. The choices there that lead to these
positions count as mistakes too, if another action is as good. If several actions have the same value, all count.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.architectures.ntuple import NTuple
from selfplay.compute.compilation import Words
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games import Game, State
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.game import SEATS
from selfplay.search.exact_solver import empties
from selfplay.training.lesson_training import RowNumbers
from selfplay.training.lessons import Apprentice, LessonExpert, Lessons, SearchExpert, action_words, legal_words
from selfplay.training.parameters import ExpertIteration

PATIENCE = 3
"""Positions with mistakes are avoided after this number of trainings in a row that did not reduce the mistakes."""

MOST_TRAININGS = 100
"""The largest number of trainings for one ply."""

PART = 1 << 20
"""Number of positions whose successors are computed together."""


class LikelyReplies:
    """The actions of an opponent that are followed: good ones by a search, in a limited number of positions.

    The lag of an action is by how much its value is below that of the best one. The lag of a position is the sum of
    the lags on the way to it, the smallest sum if several lines lead there. The positions of the smallest lags are
    walked, after a random number up to `parameters.noise` is added to each.

    Args:
        key: the stream of random numbers.
    """

    def __init__(self, expert: SearchExpert, key: int, parameters: ExpertIteration) -> None:
        self.expert, self.key = expert, key
        self.depth, self.slack = parameters.reply_depth, parameters.slack
        self.most, self.noise = parameters.most_positions, parameters.noise

    def lags(self, parents: RowNumbers, after: State) -> NDArray[np.float64]:
        """float64[N]: the lag of the actions that led to these positions from `parents` (their rows, in order)."""
        values = self.expert.values(after, self.depth - 1)  # to the player, who wants them high
        lowest = np.full(parents.max(initial=-1) + 1, np.inf)
        np.minimum.at(lowest, parents, values)
        lags: NDArray[np.float64] = values - lowest[parents]
        return lags

    def chosen(self, lags: NDArray[np.float64], ply: int) -> RowNumbers:
        """The rows of the positions that are walked, in order."""
        drawn = Draws(self.key, torch.arange(len(lags)), ply).uniforms(Purpose.POSITION).numpy()
        return np.sort(np.argsort(lags + self.noise * drawn, kind="stable")[: self.most])


class OpenLines(NamedTuple):
    """The positions of a ply from which lines continue."""

    state: State
    """N different positions."""
    lags: NDArray[np.float64] | None = None
    """float64[N]: their lags; None: every reply is followed."""

    def select(self, rows: torch.Tensor) -> "OpenLines":
        """Those of these rows."""
        return OpenLines(self.state.select(rows), None if self.lags is None else self.lags[rows.numpy()])


class Corrected(NamedTuple):
    """The results of the walk in a ply of the player."""

    ply: int
    """Number of plies since the start of the walk."""
    positions: int
    """Positions in which the player chose between several actions and could not win at once."""
    mistakes: list[int]
    """The number of mistakes before the first training and after each; the last is 0, unless the walk goes back, or
    mistakes are left after the largest number of trainings."""
    avoided: int = 0
    """If not 0, the walk goes back two plies, because this number of choices there lead to mistakes."""


class Corrections:
    """The mistakes of a player that looks one ply ahead, and their correction.

    Args:
        network: of the player, whose weights are changed in place; it has weights for each ply.
        start: one position.
        key: the stream of random numbers for the order of training.
        seat: of the player, one of SEATS.
        replies: which actions of the opponent are followed; None: all of `reply_mask`.
        reply_mask: bool[B, A], for B positions with the opponent to move: its actions that may be followed; None: the
            legal ones.
        endgame: with at most this number of empty squares the player takes exact actions, which are not walked.
        taught: lessons by ply, in which the player is trained too.
        trainings: the largest number for one ply.
        passes: the largest number of passes through the mistakes of a ply in each training.
        margin: as for `ComparisonTraining.learn`.

    Lines end where the player to move has to pass.
    """

    def __init__(
        self,
        game: Game,
        network: NTuple,
        expert: LessonExpert,
        start: State,
        key: int,
        *,
        seat: str = SEATS[0],
        replies: LikelyReplies | None = None,
        reply_mask: Callable[[State], torch.Tensor] | None = None,
        endgame: int = 0,
        taught: Mapping[int, Lessons] = MappingProxyType({}),
        trainings: int = MOST_TRAININGS,
        passes: int = 20,
        margin: float = 0.1,
    ) -> None:
        self.game, self.start, self.seat, self.endgame = game, start, SEATS.index(seat), endgame
        self.replies, self.trainings = replies, trainings
        self.reply_mask = game.legal_action_mask if reply_mask is None else reply_mask
        self.apprentice = Apprentice(game, network, expert, key, passes=passes, margin=margin)
        self.lessons = dict(taught)
        self._taught = {ply: len(lessons.position) for ply, lessons in taught.items()}

    @property
    def known(self) -> int:
        """Number of positions in `lessons`."""
        return sum(len(lessons.position) for lessons in self.lessons.values())

    def plies(self) -> Iterator[Corrected]:
        """Walk the lines, and yield each ply of the player when it has no mistakes, or before the walk goes back.

        Judgements in `lessons` are reused, so an interrupted walk is resumed by walking again.
        """
        begins = int(self.start.current_player[0]) == self.seat
        walked = [self._open(OpenLines(self.start, None if self.replies is None else np.zeros(1)), begins)]
        while (lines := walked[-1]).state.batch_size > 0:
            ply = len(walked) - 1
            if is_turn := (ply % 2 == 0) == begins:
                corrected, actions = self._correct(ply, lines.state, walked[-3].state if ply >= 2 else None)
                yield corrected
                if corrected.avoided:
                    del walked[-2:]
                    continue
            else:
                actions = self._replies_in(lines.state)
            walked.append(self._after(lines, actions, ply + 1, is_turn))

    def _after(self, lines: OpenLines, actions: Words, ply: int, is_turn: bool) -> OpenLines:
        """The lines after these actions, in this ply; `is_turn`: they are the player's."""
        parents, _, after = self.apprentice.moves(lines.state, actions)
        images, inverse = self.apprentice.distinct(after)
        if self.replies is None or lines.lags is None:
            return self._open(OpenLines(images), not is_turn)
        lags, smallest = lines.lags[parents], np.full(images.batch_size, np.inf)
        if not is_turn:
            own = self.replies.lags(parents, after)
            lags = np.where(own <= self.replies.slack, lags + own, np.inf)
        np.minimum.at(smallest, inverse.numpy(), lags)
        followed = OpenLines(images, smallest).select(torch.from_numpy(np.flatnonzero(smallest < np.inf)))
        opened = self._open(followed, not is_turn)
        assert opened.lags is not None
        return opened if is_turn else opened.select(torch.from_numpy(self.replies.chosen(opened.lags, ply)))

    # ------------------------------------------------------------------ one ply

    def _correct(self, ply: int, state: State, earlier: State | None) -> tuple[Corrected, Words]:
        """Correct the mistakes in `state`; returns the actions of each position, which are those of the highest value.

        earlier: the positions two plies before, if there are any.
        """
        actions = legal_words(self.game, state)
        choosing = _several(actions)
        state = state.select(torch.from_numpy(choosing))
        rows, mistakes, last_gain = self._rows(ply, state), list[int](), 0
        corrected, lessons = Corrected(ply, len(rows), mistakes), self.lessons[ply]
        while True:
            chosen = self.apprentice.preferred(state)
            self.apprentice.judge_actions(lessons, rows, chosen)
            is_wrong = lessons.poor[rows] & chosen != 0
            mistakes.append(int(is_wrong.sum()))
            if mistakes[-1] == 0 or len(mistakes) > self.trainings:
                actions[choosing] = chosen
                return corrected, actions
            if mistakes[-1] < min(mistakes[:-1], default=mistakes[0] + 1):
                last_gain = len(mistakes)
            elif len(mistakes) - last_gain == PATIENCE and earlier is not None:
                if avoided := self._avoid(ply - 2, earlier, state.select(torch.from_numpy(is_wrong))):
                    return corrected._replace(avoided=avoided), actions
                last_gain = len(mistakes)
            self.apprentice.judge_all(lessons, rows[is_wrong & (lessons.good[rows] == 0)])
            number = ply * (MOST_TRAININGS + 1) + len(mistakes)
            poor, taught = rows[lessons.poor[rows] != 0], self._taught.get(ply, 0)
            of_taught = np.flatnonzero(lessons.poor[:taught])
            self.apprentice.learn(lessons, np.concatenate((of_taught, poor[poor >= taught])), number)

    def _avoid(self, ply: int, state: State, wrong: State) -> int:
        """Mark actions in `state` as poor that lead to a position of `wrong`, if another action is good; returns their
        number."""
        state = state.select(torch.from_numpy(_several(legal_words(self.game, state))))
        rows, actions = self._rows(ply, state), self.apprentice.preferred(state)
        lessons = self.lessons[ply]
        parents, _, after = self.apprentice.moves(state, actions)
        choices, _, replied = self.apprentice.moves(after, self._replies_in(after))
        together = torch.cat([wrong.position, self.apprentice.first_images(replied.position)])
        leads_there = distinct_positions(together)[1][wrong.batch_size :] < wrong.batch_size
        led = np.unique(parents[choices[leads_there.numpy()]])
        rows, actions = rows[led], actions[led]
        self.apprentice.judge_all(lessons, rows)
        can_avoid = lessons.good[rows] & ~actions != 0
        rows, actions = rows[can_avoid], actions[can_avoid]
        lessons.good[rows] &= ~actions
        lessons.poor[rows] |= actions
        return len(rows)

    def _replies_in(self, state: State) -> Words:
        return action_words(self.game, self.reply_mask(state))

    def _open(self, lines: OpenLines, is_turn: bool) -> OpenLines:
        """The positions from which lines continue; the player must not be able to win at once there."""
        state = lines.state
        is_open = ~state.terminated
        if (skips := self.game.pass_action) is not None:
            mask = self.game.legal_action_mask(state)
            is_open &= ~mask[:, skips] | (mask.sum(dim=1) > 1)
        if is_turn:
            is_open &= empties(self.game, state) > self.endgame
        for part in torch.split(is_open.nonzero()[:, 0], PART) if is_turn else ():
            some = state.select(part)
            rows, _, after = self.apprentice.moves(some, legal_words(self.game, some))
            is_open[part[rows[after.returns > 0]]] = False
        return lines.select(is_open.nonzero()[:, 0])

    def _rows(self, ply: int, state: State) -> RowNumbers:
        """int64[B]: the row of each position in the lessons of the ply; new ones are added."""
        self.lessons[ply], rows = self.apprentice.with_positions(self.lessons.get(ply, Lessons()), state)
        return rows


def _several(actions: Words) -> NDArray[np.bool_]:
    """bool[N]: whether there is more than one action."""
    several: NDArray[np.bool_] = actions & (actions - 1) != 0
    return several
