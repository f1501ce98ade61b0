"""Finds the mistakes of tables on every line of play, and corrects them.

A round walks every line: at the opponent's turn every action is followed. Of positions to which the tables give the
same value by symmetry one is walked. The exact solver judges the actions of the player: a mistake lowers what a
position is worth. There the walk continues with an action that is not a mistake, so it covers the whole match. Then
comparison training teaches the mistakes of all rounds so far.

Training also changes which of several good actions is chosen, and each such change leads to positions that nothing
was learned for. So in early plies, from which many positions follow, training also teaches the action of the last walk.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.architectures.ntuple import NTuple
from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games import Game, State
from selfplay.games.kernels import distinct_bitboards
from selfplay.search.exact_solver import ExactSolver, empties
from selfplay.settings.matches import SEATS, CorrectionSettings
from selfplay.training.comparison_training import Comparisons, ComparisonTraining

STEADY_MARGIN = 0.02
"""How far the action of the last walk should be ahead of all others in early plies, where others may be as good."""

ROUNDS_KEPT = 3
"""Positions that no walk of this number of rounds has met are not trained on."""

WIN = 1
"""The worth of a won position."""

NONE = np.zeros(0, dtype=np.int64)


class Lessons(NamedTuple):
    """What is known of N positions of one ply with the player to move. Actions are bits."""

    own: Words
    opp: Words
    worth: Words
    """int64[N]: what the positions are worth: their exact values, with WIN for all wins."""
    good: Words
    """int64[N]: the actions known to keep the worth."""
    poor: Words
    """int64[N]: the actions known to lower it."""
    followed: Words
    """int64[N]: the action with which the last walk went on."""
    seen: Words
    """int64[N]: the number of the last walk that met the position."""


class Round(NamedTuple):
    """What a walk has found."""

    positions: int
    """Positions in which the player chose between several actions and could not win at once."""
    mistakes: dict[int, int]
    """The number of mistakes by ply, where there are any."""


class Corrections:
    """The mistakes of a player that looks one ply ahead, and their correction.

    Args:
        network: of the player, whose weights are changed in place.
        learning: the tables of this number of images, the first ones, learn.
        start: one position.
        lowest: the lowest worth of a position that the player can come to without a mistake: WIN, 0 or below.
        key: the stream of random numbers for the order of training.
    """

    def __init__(
        self,
        game: Game,
        network: NTuple,
        learning: int,
        solver: ExactSolver,
        start: State,
        lowest: int,
        settings: CorrectionSettings,
        key: int,
    ) -> None:
        self.game, self.solver, self.settings, self.key = game, solver, settings, key
        self.start, self.lowest = start, lowest
        self.training = ComparisonTraining(game, network.trainable_tables(), learning)
        shared = network.shared_images().tolist()
        views = game.symmetries.observations[1:, : game.num_squares]
        self.symmetries = [view for view in views if view.tolist() in shared]
        self.lessons: dict[int, Lessons] = {}

    # ------------------------------------------------------------------ the walk

    def walk(self, number: int) -> Round:
        """Walk every line, and learn which actions keep the worth where it is not known. `number`: of the round."""
        positions, mistakes = 0, dict[int, int]()
        own, opp = self.start.own.numpy(), self.start.opp.numpy()
        is_turn = int(self.start.current_player[0]) == SEATS.index(self.settings.seat)
        for ply in range(self.game.max_game_length):
            state = self._state(own, opp)
            is_open = ~state.terminated & ((empties(self.game, state) > self.settings.endgame) | (not is_turn))
            state = state.select(is_open.nonzero()[:, 0])
            if state.batch_size == 0:
                break
            if is_turn:
                actions, decided, wrong = self._turn(number, ply, state)
                positions += decided
                if wrong:
                    mistakes[ply] = wrong
            else:
                parents, actions = self.game.legal_action_mask(state).nonzero(as_tuple=True)
                state = state.select(parents)
            after = self.game.step_unchecked(state, actions)
            (own, opp), is_turn = self._distinct(after.own, after.opp), not is_turn
        return Round(positions, mistakes)

    def _turn(self, number: int, ply: int, state: State) -> tuple[torch.Tensor, int, int]:
        """The actions with which lines continue; in how many positions the player decides, and errs."""
        chosen = self.training.best_actions(state.own.numpy(), state.opp.numpy())
        legal = self.game.legal_action_mask(state)
        wins_at_once = self.game.step_unchecked(state, self._numbers(chosen)).returns > 0
        decides = ((legal.sum(dim=1) > 1) & ~wins_at_once).nonzero()[:, 0]
        rows, actions = self._rows(ply, state.select(decides)), chosen[decides.numpy()]
        lessons = self.lessons[ply]
        self._judge(lessons, rows, actions)
        for action in range(legal.shape[1] - (self.game.pass_action is not None)):
            untried = rows[legal[decides, action].numpy() & (lessons.good[rows] == 0)]
            self._judge(lessons, untried, np.full_like(untried, np.int64(1) << np.int64(action)))
        good, followed = lessons.good[rows], lessons.followed[rows]
        is_wrong = good & actions == 0
        known = np.where(good & followed != 0, followed, good & -good)
        lessons.followed[rows] = chosen[decides.numpy()] = np.where(is_wrong, known, actions)
        lessons.seen[rows] = number
        return self._numbers(chosen), len(rows), int(is_wrong.sum())

    def _distinct(self, own: torch.Tensor, opp: torch.Tensor) -> tuple[Words, Words]:
        """The distinct positions; only one of those to which the tables give the same value by symmetry."""
        first_own, first_opp = own, opp
        for squares in self.symmetries:
            image, other = _image(own, squares), _image(opp, squares)
            is_first = (image < first_own) | ((image == first_own) & (other < first_opp))
            first_own, first_opp = torch.where(is_first, image, first_own), torch.where(is_first, other, first_opp)
        rows = distinct_bitboards(first_own, first_opp)[0]
        return first_own[rows].numpy(), first_opp[rows].numpy()

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
        added = (own[new], opp[new], worth, zeros, zeros, zeros, zeros)
        self.lessons[ply] = Lessons(*map(np.concatenate, zip(lessons, added, strict=True)))
        rows: Words = inverse[len(lessons.own) :].numpy()
        return rows

    def _judge(self, lessons: Lessons, rows: Words, actions: Words) -> None:
        """Find whether these actions, one in each of these rows, keep the worth."""
        unknown = (lessons.good | lessons.poor)[rows] & actions == 0
        rows, actions = rows[unknown], actions[unknown]
        state = self._state(lessons.own[rows], lessons.opp[rows])
        after = self.game.step_unchecked(state, self._numbers(actions))
        kept = -lessons.worth[rows]
        is_good = self.solver.values_within(after, kept, kept + 1) <= kept
        lessons.good[rows[is_good]] |= actions[is_good]
        lessons.poor[rows[~is_good]] |= actions[~is_good]

    def _state(self, own: Words, opp: Words) -> State:
        return self.game.state_at(torch.from_numpy(own), torch.from_numpy(opp))

    def _numbers(self, actions: Words) -> torch.Tensor:
        """int64[N]: the numbers of actions that are bits."""
        passing = -1 if self.game.pass_action is None else self.game.pass_action
        return torch.from_numpy(np.where(actions == 0, passing, bit_count(actions - 1)))

    # ------------------------------------------------------------------ training

    def train(self, number: int) -> None:
        """Train on mistakes and all positions of early plies, in a new order in each pass. `number`: of the round."""
        passes = self.settings.passes
        parts = [(ply, *self._taught(number, ply)) for ply in sorted(self.lessons)]
        ends = np.cumsum([len(rows) for _, rows, _ in parts])
        for trained in range(passes):
            columns = (self._comparisons(*part) for part in parts)
            comparisons = Comparisons(*map(np.concatenate, zip(*columns, strict=True)))
            draws = Draws(self.key, torch.arange(len(comparisons.own)), number * passes + trained)
            order = draws.bits(Purpose.BATCH_ORDER).argsort(stable=True).numpy()
            lacking, unknown = self.training.learn(comparisons, order, self.settings.rate)
            for (ply, rows, _), actions in zip(parts, np.split(unknown, ends[:-1]), strict=True):
                self._judge(self.lessons[ply], rows[actions != 0], actions[actions != 0])
            if lacking == 0 and not unknown.any():
                return

    def _taught(self, number: int, ply: int) -> tuple[Words, NDArray[np.bool_]]:
        """The rows of the lessons of a ply that enter training; and whether they teach the action of the last walk."""
        lessons = self.lessons[ply]
        recent = lessons.seen > number - ROUNDS_KEPT
        mistaken, steady = np.flatnonzero(recent & (lessons.poor != 0)), np.flatnonzero(recent)
        if ply >= self.settings.steady_plies:
            steady = steady[:0]
        return np.concatenate([mistaken, steady]), np.arange(len(mistaken) + len(steady)) >= len(mistaken)

    def _comparisons(self, ply: int, rows: Words, is_steady: NDArray[np.bool_]) -> Comparisons:
        own, opp, _, good, poor, followed, _ = (field[rows] for field in self.lessons[ply])
        good, poor = np.where(is_steady, followed, good), np.where(is_steady, ~followed, poor)
        return Comparisons(own, opp, good, poor, np.where(is_steady, STEADY_MARGIN, self.settings.margin))


def _image(words: torch.Tensor, squares: NDArray[np.int64]) -> torch.Tensor:
    """Words whose bit i is bit `squares[i]` of the original."""
    image, places = torch.zeros_like(words), np.arange(len(squares))
    for shift in np.unique(places - squares).tolist():
        kept = np.bitwise_or.reduce(np.int64(1) << places[places - squares == shift]).item()
        image |= (words << shift if shift >= 0 else words >> -shift) & kept
    return image
