"""Finds the mistakes of tables on every line of play, and corrects them ply by ply.

All lines are walked breadth first. When the opponent is to move, every action is followed; when the player is to move,
the action of the highest value, or all actions that have it. If the tables give images of a position the same value,
only one image is walked. The exact solver judges the player's actions. A mistake is an action that lowers the exact
value of the position for the player. Comparison training corrects mistakes until the tables make none in any position
of the ply. Only then do the lines continue.

Each ply has weights of its own. So training for a ply does not change choices in earlier plies, and one walk is enough.
If the tables cannot distinguish positions of a ply, the walk goes back two plies. The choices there that lead to these
positions count as mistakes too, if another action is as good. If several actions have the same value, all count.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.architectures.ntuple import NTuple
from selfplay.compute.compilation import Words
from selfplay.errors import StageError
from selfplay.games import Game, State
from selfplay.games.game import SEATS
from selfplay.games.kernels import distinct_bitboards
from selfplay.search.exact_solver import ExactSolver, empties
from selfplay.training.lessons import Apprentice, ExactJudge, Lessons

PATIENCE = 3
"""Positions with mistakes are avoided after this number of trainings in a row that did not reduce the mistakes."""

MOST_TRAININGS = 100
"""The largest number of trainings for one ply."""

PART = 1 << 20
"""Number of positions whose successors are computed together."""


class Corrected(NamedTuple):
    """The results of the walk in a ply of the player."""

    ply: int
    """Number of plies since the start of the walk."""
    positions: int
    """Positions in which the player chose between several actions and could not win at once."""
    mistakes: list[int]
    """The number of mistakes before the first training and after each; the last is 0, unless the walk goes back."""
    avoided: int = 0
    """If not 0, the walk goes back two plies, because this number of choices there lead to mistakes."""


class Corrections:
    """The mistakes of a player that looks one ply ahead, and their correction.

    Args:
        network: of the player, whose weights are changed in place; it has weights for each ply.
        start: one position of a game without passes.
        lowest: the lowest worth of the positions that the player can reach without a mistake: WIN, 0 or below.
        key: the stream of random numbers for the order of training.
        seat: of the player, one of SEATS.
        endgame: with at most this number of empty squares the player takes exact actions, which are not walked.
        passes: the largest number of passes through the mistakes of a ply in each training.
        margin: as for `ComparisonTraining.learn`.
    """

    def __init__(
        self,
        game: Game,
        network: NTuple,
        solver: ExactSolver,
        start: State,
        lowest: int,
        key: int,
        *,
        seat: str = SEATS[0],
        endgame: int = 0,
        passes: int = 20,
        margin: float = 0.1,
    ) -> None:
        self.game, self.start, self.seat, self.endgame = game, start, SEATS.index(seat), endgame
        self.apprentice = Apprentice(game, network, ExactJudge(solver, lowest), key, passes=passes, margin=margin)
        self.lessons: dict[int, Lessons] = {}

    @property
    def known(self) -> int:
        """Number of positions in `lessons`."""
        return sum(len(lessons.own) for lessons in self.lessons.values())

    def plies(self) -> Iterator[Corrected]:
        """Walk every line, and yield each ply of the player when it has no mistakes, or before the walk goes back.

        Judgements in `lessons` are reused, so an interrupted walk is resumed by walking again. Raises StageError if
        mistakes are left in a ply.
        """
        begins = int(self.start.current_player[0]) == self.seat
        walked = [self._open(self.start, begins)]
        while (state := walked[-1]).batch_size > 0:
            ply = len(walked) - 1
            if is_turn := (ply % 2 == 0) == begins:
                corrected, actions = self._correct(ply, state, walked[-3] if ply >= 2 else None)
                yield corrected
                if corrected.avoided:
                    del walked[-2:]
                    continue
            else:
                actions = self.apprentice.legal(state)
            *_, after = self.apprentice.moves(state, actions)
            walked.append(self._open(self.apprentice.distinct(after), not is_turn))

    # ------------------------------------------------------------------ one ply

    def _correct(self, ply: int, state: State, earlier: State | None) -> tuple[Corrected, Words]:
        """Correct the mistakes in `state`; returns the actions of each position, which are those of the highest value.

        earlier: the positions two plies before, if there are any.
        """
        actions = self.apprentice.legal(state)
        choosing = _several(actions)
        state = state.select(torch.from_numpy(choosing))
        rows, mistakes, last_gain = self._rows(ply, state), list[int](), 0
        corrected, lessons = Corrected(ply, len(rows), mistakes), self.lessons[ply]
        while True:
            chosen = self.apprentice.preferred(state)
            self.apprentice.judge_actions(lessons, rows, chosen)
            is_wrong = lessons.poor[rows] & chosen != 0
            mistakes.append(int(is_wrong.sum()))
            if mistakes[-1] == 0:
                actions[choosing] = chosen
                return corrected, actions
            if mistakes[-1] < min(mistakes[:-1], default=mistakes[0] + 1):
                last_gain = len(mistakes)
            elif len(mistakes) - last_gain == PATIENCE and earlier is not None:
                if avoided := self._avoid(ply - 2, earlier, state.select(torch.from_numpy(is_wrong))):
                    return corrected._replace(avoided=avoided), actions
                last_gain = len(mistakes)
            if len(mistakes) > MOST_TRAININGS:
                left = int(empties(self.game, state)[0])
                raise StageError(
                    f"{mistakes[-1]:,} mistakes are left with {left} empty squares; set endgame={left} or larger"
                )
            self.apprentice.judge_all(lessons, rows[is_wrong & (lessons.good[rows] == 0)])
            number = ply * (MOST_TRAININGS + 1) + len(mistakes)
            self.apprentice.learn(lessons, rows[lessons.poor[rows] != 0], number)

    def _avoid(self, ply: int, state: State, wrong: State) -> int:
        """Mark actions in `state` as poor that lead to a position of `wrong`, if another action is good; returns their
        number."""
        state = state.select(torch.from_numpy(_several(self.apprentice.legal(state))))
        rows, actions = self._rows(ply, state), self.apprentice.preferred(state)
        lessons = self.lessons[ply]
        parents, _, after = self.apprentice.moves(state, actions)
        choices, _, replied = self.apprentice.moves(after, self.apprentice.legal(after))
        images = self.apprentice.first_images(replied.own, replied.opp)
        words = (torch.cat(pair) for pair in zip((wrong.own, wrong.opp), images, strict=True))
        leads_there = distinct_bitboards(*words)[1][wrong.batch_size :] < wrong.batch_size
        led = np.unique(parents[choices[leads_there.numpy()]])
        rows, actions = rows[led], actions[led]
        self.apprentice.judge_all(lessons, rows)
        can_avoid = lessons.good[rows] & ~actions != 0
        rows, actions = rows[can_avoid], actions[can_avoid]
        lessons.good[rows] &= ~actions
        lessons.poor[rows] |= actions
        return len(rows)

    def _open(self, state: State, is_turn: bool) -> State:
        """The positions from which lines continue; the player must not be able to win at once there."""
        is_open = ~state.terminated
        if is_turn:
            is_open &= empties(self.game, state) > self.endgame
        for part in torch.split(is_open.nonzero()[:, 0], PART) if is_turn else ():
            some = state.select(part)
            rows, _, after = self.apprentice.moves(some, self.apprentice.legal(some))
            is_open[part[rows[after.returns > 0]]] = False
        return state.select(is_open.nonzero()[:, 0])

    def _rows(self, ply: int, state: State) -> Words:
        """int64[B]: the row of each position in the lessons of the ply; new ones are added."""
        self.lessons[ply], rows = self.apprentice.with_positions(self.lessons.get(ply, Lessons()), state)
        return rows


def _several(actions: Words) -> NDArray[np.bool_]:
    """bool[N]: whether there is more than one action."""
    several: NDArray[np.bool_] = actions & (actions - 1) != 0
    return several
