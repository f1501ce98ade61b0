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
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import StageError
from selfplay.games import Game, State
from selfplay.games.game import SEATS
from selfplay.games.kernels import distinct_bitboards
from selfplay.search.exact_solver import WIN, ExactSolver, empties
from selfplay.training.comparison_training import Comparisons, ComparisonTraining

PATIENCE = 3
"""Positions with mistakes are avoided after this number of trainings in a row that did not reduce the mistakes."""

MOST_TRAININGS = 100
"""The largest number of trainings for one ply."""

PART = 1 << 20
"""Number of positions whose successors are computed together."""

NONE = np.zeros(0, dtype=np.int64)


class Lessons(NamedTuple):
    """What is known about N positions of one ply in which the player chooses. Actions are bits."""

    own: Words
    """int64[N]: the stones of the player."""
    opp: Words
    """int64[N]"""
    worth: Words
    """int64[N]: the exact values of the positions, with WIN for all wins ("worth")."""
    good: Words
    """int64[N]: the actions that are known to keep the worth."""
    poor: Words
    """int64[N]: the actions that are known to lower the worth, or to lead to positions to avoid."""


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
        self.game, self.solver, self.key, self.start, self.lowest = game, solver, key, start, lowest
        self.seat, self.endgame, self.passes, self.margin = SEATS.index(seat), endgame, passes, margin
        self.training = ComparisonTraining(game, network.trainable_tables())
        shared = network.shared_images().tolist()
        views = game.symmetries.observations[1:, : game.num_squares]
        self.symmetries = [view for view in views if view.tolist() in shared]
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
        walked = [self._open(self.start.own, self.start.opp, begins)]
        while (state := walked[-1]).batch_size > 0:
            ply = len(walked) - 1
            if is_turn := (ply % 2 == 0) == begins:
                corrected, actions = self._correct(ply, state, walked[-3] if ply >= 2 else None)
                yield corrected
                if corrected.avoided:
                    del walked[-2:]
                    continue
            else:
                actions = self._legal(state)
            *_, after = self._moves(state, actions)
            walked.append(self._open(*self._distinct(after.own, after.opp), not is_turn))

    # ------------------------------------------------------------------ one ply

    def _correct(self, ply: int, state: State, earlier: State | None) -> tuple[Corrected, Words]:
        """Correct the mistakes in `state`; returns the actions of each position, which are those of the highest value.

        earlier: the positions two plies before, if there are any.
        """
        actions = self._legal(state)
        choosing = _several(actions)
        state = state.select(torch.from_numpy(choosing))
        rows, mistakes, last_gain = self._rows(ply, state), list[int](), 0
        corrected, lessons = Corrected(ply, len(rows), mistakes), self.lessons[ply]
        while True:
            chosen = self._preferred(state)
            self._judge(lessons, rows, chosen)
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
            self._judge_all(lessons, rows[is_wrong & (lessons.good[rows] == 0)])
            self._train(ply, len(mistakes), rows[lessons.poor[rows] != 0])

    def _avoid(self, ply: int, state: State, wrong: State) -> int:
        """Mark actions in `state` as poor that lead to a position of `wrong`, if another action is good; returns their
        number."""
        state = state.select(torch.from_numpy(_several(self._legal(state))))
        rows, actions = self._rows(ply, state), self._preferred(state)
        lessons = self.lessons[ply]
        parents, _, after = self._moves(state, actions)
        choices, _, replied = self._moves(after, self._legal(after))
        images = self._first_images(replied.own, replied.opp)
        words = (torch.cat(pair) for pair in zip((wrong.own, wrong.opp), images, strict=True))
        leads_there = distinct_bitboards(*words)[1][wrong.batch_size :] < wrong.batch_size
        led = np.unique(parents[choices[leads_there.numpy()]])
        rows, actions = rows[led], actions[led]
        self._judge_all(lessons, rows)
        can_avoid = lessons.good[rows] & ~actions != 0
        rows, actions = rows[can_avoid], actions[can_avoid]
        lessons.good[rows] &= ~actions
        lessons.poor[rows] |= actions
        return len(rows)

    def _open(self, own: torch.Tensor, opp: torch.Tensor, is_turn: bool) -> State:
        """The positions from which lines continue; the player must not be able to win at once there."""
        state = self.game.state_at(own, opp)
        is_open = ~state.terminated
        if is_turn:
            is_open &= empties(self.game, state) > self.endgame
        for part in torch.split(is_open.nonzero()[:, 0], PART) if is_turn else ():
            some = state.select(part)
            rows, _, after = self._moves(some, self._legal(some))
            is_open[part[rows[after.returns > 0]]] = False
        return state.select(is_open.nonzero()[:, 0])

    def _first_images(self, own: torch.Tensor, opp: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For each position, the image with the smallest words, among the images with the same value in the tables."""
        first_own, first_opp = own, opp
        for squares in self.symmetries:
            image, other = _image(own, squares), _image(opp, squares)
            is_first = (image < first_own) | ((image == first_own) & (other < first_opp))
            first_own, first_opp = torch.where(is_first, image, first_own), torch.where(is_first, other, first_opp)
        return first_own, first_opp

    def _distinct(self, own: torch.Tensor, opp: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        own, opp = self._first_images(own, opp)
        rows = distinct_bitboards(own, opp)[0]
        return own[rows], opp[rows]

    # ------------------------------------------------------------------ what is known

    def _rows(self, ply: int, state: State) -> Words:
        """int64[B]: the row of each position in the lessons of the ply; new ones are added."""
        lessons = self.lessons.get(ply, Lessons(*[NONE] * len(Lessons._fields)))
        own, opp = (np.concatenate(pair) for pair in ((lessons.own, state.own), (lessons.opp, state.opp)))
        first, inverse = distinct_bitboards(torch.from_numpy(own), torch.from_numpy(opp))
        new = first[len(lessons.own) :].numpy()
        zeros = np.zeros_like(new)
        worth = zeros + WIN
        if self.lowest < WIN:
            worth = self.solver.values_within(self._state(own[new], opp[new]), zeros + self.lowest, worth)
        added = (own[new], opp[new], worth, zeros, zeros)
        self.lessons[ply] = Lessons(*map(np.concatenate, zip(lessons, added, strict=True)))
        rows: Words = inverse[len(lessons.own) :].numpy()
        return rows

    def _judge(self, lessons: Lessons, rows: Words, actions: Words) -> None:
        """Find which of these actions, one or more in each of these rows, keep the worth."""
        unknown = actions & ~(lessons.good | lessons.poor)[rows]
        parents, numbers, after = self._moves(self._state(lessons.own[rows], lessons.opp[rows]), unknown)
        kept = -lessons.worth[rows][parents]
        is_good = self.solver.values_within(after, kept, kept + 1) <= kept
        for known, is_so in ((lessons.good, is_good), (lessons.poor, ~is_good)):
            np.bitwise_or.at(known, rows[parents[is_so]], np.int64(1) << numbers[is_so])

    def _judge_all(self, lessons: Lessons, rows: Words) -> None:
        """Judge all actions in these rows."""
        self._judge(lessons, rows, self._legal(self._state(lessons.own[rows], lessons.opp[rows])))

    def _preferred(self, state: State) -> Words:
        return self.training.best_actions(state.own.numpy(), state.opp.numpy())

    def _state(self, own: Words, opp: Words) -> State:
        return self.game.state_at(torch.from_numpy(own), torch.from_numpy(opp))

    def _legal(self, state: State) -> Words:
        """int64[N]: the legal actions."""
        mask = self.game.legal_action_mask(state)
        words: Words = (mask.long() << torch.arange(mask.shape[1])).sum(dim=1).numpy()
        return words

    def _moves(self, state: State, actions: Words) -> tuple[Words, Words, State]:
        """For each of `actions` (int64[N]) in each position: its row, its number, and the position after it."""
        is_action = (torch.from_numpy(actions)[:, None] >> torch.arange(self.game.num_distinct_actions)) & 1
        rows, numbers = is_action.nonzero(as_tuple=True)
        return rows.numpy(), numbers.numpy(), self.game.step_unchecked(state.select(rows), numbers)

    # ------------------------------------------------------------------ training

    def _train(self, ply: int, number: int, rows: Words) -> None:
        """Train on these rows of the lessons of a ply, in a new order in each pass. `number`: of the training."""
        lessons, passes = self.lessons[ply], self.passes
        draws_of = (ply * (MOST_TRAININGS + 1) + number) * passes
        for trained in range(passes):
            own, opp, _, good, poor = (field[rows] for field in lessons)
            comparisons = Comparisons(own, opp, good, poor)
            draws = Draws(self.key, torch.arange(len(rows)), draws_of + trained)
            order = draws.bits(Purpose.BATCH_ORDER).argsort(stable=True).numpy()
            lacking, unknown = self.training.learn(comparisons, order, self.margin)
            self._judge(lessons, rows[unknown != 0], unknown[unknown != 0])
            if lacking == 0 and not unknown.any():
                return


def _several(actions: Words) -> NDArray[np.bool_]:
    """bool[N]: whether there is more than one action."""
    several: NDArray[np.bool_] = actions & (actions - 1) != 0
    return several


def _image(words: torch.Tensor, squares: NDArray[np.int64]) -> torch.Tensor:
    """Words whose bit i is bit `squares[i]` of the original."""
    image, places = torch.zeros_like(words), np.arange(len(squares))
    for shift in np.unique(places - squares).tolist():
        kept = np.bitwise_or.reduce(np.int64(1) << places[places - squares == shift]).item()
        image |= (words << shift if shift >= 0 else words >> -shift) & kept
    return image
