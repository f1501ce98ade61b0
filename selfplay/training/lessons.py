"""Lessons: positions, and which of their actions are good and which are poor, as an expert has found.

An expert is an exact solver or a search. It says what a position is worth, and which actions keep this worth: these are
good, the others are poor. Tables learn by comparison training to prefer a good action.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.architectures.ntuple import NTuple
from selfplay.checks import require
from selfplay.compute.compilation import Words
from selfplay.compute.positions import Packed
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games import Game, State
from selfplay.games.distinct_positions import distinct_positions
from selfplay.search.exact_solver import WIN, ExactSolver
from selfplay.search.searcher import MAX_DEPTH, Searcher
from selfplay.training.lesson_training import Comparisons, ComparisonTraining, RowNumbers

NONE = np.zeros(0, dtype=np.int64)
NO_POSITIONS = np.zeros((0, 2), dtype=np.int64)

WORD_BITS = 64

BLOCK = 1 << 10
"""Number of positions that a thread searches at a time."""


class LessonExpert(Protocol):
    """Says which actions are good."""

    def worth(self, state: State) -> NDArray[Any]:
        """[N]: what each position is worth to the player to move."""

    def is_kept(self, after: State, worth: NDArray[Any]) -> NDArray[np.bool_]:
        """bool[N]: whether the actions that led to these positions kept the worth of the positions before."""


class ExactExpert:
    """Judges by the exact values of positions, with WIN for all wins.

    Args:
        lowest: the lowest value of the positions that are judged.
    """

    def __init__(self, solver: ExactSolver, lowest: int) -> None:
        self.solver, self.lowest = solver, lowest

    def worth(self, state: State) -> NDArray[np.int64]:
        most = np.full(state.batch_size, WIN, dtype=np.int64)
        return most if self.lowest == WIN else self.solver.values_within(state, np.full_like(most, self.lowest), most)

    def is_kept(self, after: State, worth: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self.solver.values_within(after, -worth, 1 - worth) <= -worth


class SearchExpert:
    """Judges by the values that a search finds.

    Args:
        searchers: one for each thread. They find the same values, so their number does not change the results.
        depth: how many plies from the position that is judged they look ahead, 2 or more.
        tolerance: an action keeps the worth if its value is at most this far below it.
    """

    def __init__(self, searchers: Sequence[Searcher], depth: int, tolerance: float) -> None:
        require("depth", depth, 2 <= depth <= MAX_DEPTH, f"from 2 to {MAX_DEPTH}")
        self.depth, self.tolerance, self.threads = depth, tolerance, len(searchers)
        self._free = SimpleQueue[Searcher]()
        for searcher in searchers:
            self._free.put(searcher)

    def worth(self, state: State) -> NDArray[np.float64]:
        return self.values(state, self.depth)

    def is_kept(self, after: State, worth: NDArray[np.float64]) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = -self.values(after, self.depth - 1) >= worth - self.tolerance
        return kept

    def values(self, state: State, depth: int) -> NDArray[np.float64]:
        """float64[B]: the value of each position to the player to move, this number of plies ahead; 0: its own."""

        def search(rows: torch.Tensor) -> NDArray[np.float64]:
            searcher = self._free.get()
            try:
                return searcher.search_batch(state.select(rows), depth).values
            finally:
                self._free.put(searcher)

        with ThreadPoolExecutor(self.threads) as pool:
            return np.concatenate(list(pool.map(search, torch.split(torch.arange(state.batch_size), BLOCK))))


class Lessons(NamedTuple):
    """What is known about N positions in which a player chooses. Actions are bits."""

    position: Packed = NO_POSITIONS
    """int64[N, 2]: the positions, packed."""
    worth: NDArray[Any] = NONE
    """[N]: the worth of the positions, as the expert found it."""
    good: Words = NONE
    """int64[N]: the actions that are known to keep the worth."""
    poor: Words = NONE
    """int64[N]: the actions that are known to lower the worth, or to lead to positions to avoid."""

    def with_rows(self, *rows: NDArray[Any]) -> Self:
        """With further rows, one array for each field."""
        return type(self)(*map(np.concatenate, zip(self, rows, strict=True)))


def num_action_bits(game: Game) -> int:
    """Number of actions that a word has: all, without a pass that is beyond it."""
    return min(game.num_distinct_actions, WORD_BITS)


def legal_words(game: Game, state: State) -> Words:
    """int64[N]: the legal actions of each position."""
    return action_words(game, game.legal_action_mask(state))


def action_words(game: Game, mask: torch.Tensor) -> Words:
    """int64[N]: the actions of `mask` (bool[N, A]) as bits."""
    mask = mask[:, : num_action_bits(game)]
    words: Words = (mask.long() << torch.arange(mask.shape[1])).sum(dim=1).numpy()
    return words


class Apprentice:
    """A player that looks one ply ahead with tables, and learns from lessons.

    Args:
        network: its tables, whose weights are changed in place.
        key: the stream of random numbers for the order of training.
        passes: the largest number of passes through the lessons in each training.
        margin: as for `ComparisonTraining.learn`.
    """

    def __init__(
        self, game: Game, network: NTuple, expert: LessonExpert, key: int, *, passes: int, margin: float
    ) -> None:
        self.game, self.expert, self.key, self.passes, self.margin = game, expert, key, passes, margin
        self.training = ComparisonTraining(game, network.trainable_tables())
        shared = network.shared_images().tolist()
        views = game.symmetries.observations[1:, : game.num_squares]
        self.symmetries = [view for view in views if view.tolist() in shared]

    # ------------------------------------------------------------------ positions and actions

    def preferred(self, state: State) -> Words:
        """int64[N]: the actions of the highest value in each position."""
        return self.training.best_actions(state.position.numpy())

    def moves(self, state: State, actions: Words) -> tuple[RowNumbers, NDArray[np.int64], State]:
        """For each of `actions` (int64[N]) in each position: its row, its number, and the position after it."""
        is_action = (torch.from_numpy(actions)[:, None] >> torch.arange(num_action_bits(self.game))) & 1
        rows, numbers = is_action.nonzero(as_tuple=True)
        return rows.numpy(), numbers.numpy(), self.game.step_unchecked(state.select(rows), numbers)

    def state(self, positions: Packed) -> State:
        """The state with these positions."""
        return self.game.state_at(torch.from_numpy(positions))

    def first_images(self, positions: torch.Tensor) -> torch.Tensor:
        """For each position (int64[B, 2]), the smallest of its images that have the same value in the tables."""
        first = positions
        for squares in self.symmetries:
            image = _image(positions, squares)
            (own, opp), (first_own, first_opp) = image.T, first.T
            is_first = (own < first_own) | ((own == first_own) & (opp < first_opp))
            first = torch.where(is_first[:, None], image, first)
        return first

    def distinct(self, state: State) -> tuple[State, torch.Tensor]:
        """The distinct ones of the first images of these positions; and int64[B], the number of that of each."""
        positions = self.first_images(state.position)
        rows, inverse = distinct_positions(positions)
        return self.game.state_at(positions[rows]), inverse

    # ------------------------------------------------------------------ lessons

    def with_positions(self, lessons: Lessons, state: State) -> tuple[Lessons, RowNumbers]:
        """The lessons with these positions, and int64[B], the row of each."""
        known = len(lessons.position)
        positions = np.concatenate([lessons.position, state.position])
        first, inverse = distinct_positions(torch.from_numpy(positions))
        new = positions[first[known:].numpy()]
        nothing = np.zeros(len(new), dtype=np.int64)
        rows: RowNumbers = inverse[known:].numpy()
        return lessons.with_rows(new, self.expert.worth(self.state(new)), nothing, nothing), rows

    def judge_actions(self, lessons: Lessons, rows: RowNumbers, actions: Words) -> None:
        """Find which of these actions, one or more in each of these rows, keep the worth."""
        unknown = actions & ~(lessons.good | lessons.poor)[rows]
        parents, numbers, after = self.moves(self.state(lessons.position[rows]), unknown)
        is_good = self.expert.is_kept(after, lessons.worth[rows][parents])
        for known, is_so in ((lessons.good, is_good), (lessons.poor, ~is_good)):
            np.bitwise_or.at(known, rows[parents[is_so]], np.int64(1) << numbers[is_so])

    def mistakes(self, lessons: Lessons, rows: RowNumbers) -> NDArray[np.bool_]:
        """bool[N]: whether an action of the highest value in each of these rows is poor; they are judged."""
        chosen = self.preferred(self.state(lessons.position[rows]))
        self.judge_actions(lessons, rows, chosen)
        is_wrong: NDArray[np.bool_] = lessons.poor[rows] & chosen != 0
        return is_wrong

    def judge_all(self, lessons: Lessons, rows: RowNumbers) -> None:
        """Judge all actions in these rows."""
        self.judge_actions(lessons, rows, legal_words(self.game, self.state(lessons.position[rows])))

    def learn(self, lessons: Lessons, rows: RowNumbers, training: int) -> int:
        """Train on these rows, in a new order in each pass, until all have the margin.

        RowNumbers in which no action is known to be good are left out: a search can contradict itself.

        Args:
            training: the number of the training, which determines the order.

        Returns:
            In how many rows the margin was lacking in the last pass.
        """
        lacking, rows = 0, rows[lessons.good[rows] != 0]
        for trained in range(self.passes):
            positions, _, good, poor = (field[rows] for field in lessons)
            draws = Draws(self.key, torch.arange(len(rows)), training * self.passes + trained)
            order = draws.bits(Purpose.BATCH_ORDER).argsort(stable=True).numpy()
            lacking, unknown = self.training.learn(Comparisons(positions, good, poor), order, self.margin)
            self.judge_actions(lessons, rows[unknown != 0], unknown[unknown != 0])
            if lacking == 0 and not unknown.any():
                break
        return lacking


def _image(words: torch.Tensor, squares: NDArray[np.int64]) -> torch.Tensor:
    """Words whose bit i is bit `squares[i]` of the original."""
    image, places = torch.zeros_like(words), np.arange(len(squares))
    for shift in np.unique(places - squares).tolist():
        kept = np.bitwise_or.reduce(np.int64(1) << places[places - squares == shift]).item()
        image |= (words << shift if shift >= 0 else words >> -shift) & kept
    return image
