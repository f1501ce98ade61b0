"""The interface of exact solvers of positions, and the registry from which a game names its solver.

solver = make_exact_solver("othello")
solver.solve(state).value
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.compilation import Words, require_compiled
from selfplay.compute.devices import SEARCH_THREADS
from selfplay.compute.positions import Packed
from selfplay.errors import SettingError
from selfplay.games import game_names, make_game
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.pickling import MadeAgain
from selfplay.registry import Registry
from selfplay.search.threads import ProgressRecord, StopFlag, run_interruptibly

Result = TypeVar("Result")

WIN = 1
"""The value of all won positions if wins do not differ; otherwise the value of a position is its exact value."""
EVERY_LOSS = -(10**6)
"""A number below the values of all positions, for the case that losses differ."""


class SolvedPosition(NamedTuple):
    """The result of best play."""

    value: int
    """The value to the player to move: positive if it wins, 0 for a draw, negative if the opponent wins."""
    action: int | None
    """The best action, the lowest if several are equally good; None where the match is over."""
    principal_variation: tuple[int, ...]
    """The best actions to the end of the match, including passes, each the lowest of the equally good ones."""
    visited: int


class ExactSolver(MadeAgain, ABC):
    """Finds the exact value of positions, and of every action there, in a game whose players take turns.

    A solver keeps a table of results, which speeds up related positions and does not change any result. Use a solver in
    one thread at a time. It may itself start others.

    Args:
        progress: the record in which the searches count.

    Attributes:
        num_threads: the number of threads that search a position, in solvers that can use several; changes no result.

    Raises SettingError if the same player may move again.
    """

    practical_empties: int
    """Positions with more empty squares than this take hours."""
    counts_points: bool
    """Whether values are the points (Othello: discs) by which the player to move wins."""
    quick_positions = 0
    """Number of positions that a search visits in the calling thread before it starts another; 0: none."""

    def __init__(self, game: Game, progress: ProgressRecord) -> None:
        require_compiled("solvers of positions")
        if game.rules.moves_again is not None:
            raise SettingError(f"{game!r}: positions are solved only where players take turns; set exact_solver = None")
        self.game, self._progress = game, progress
        self.num_threads = SEARCH_THREADS.get()

    def value(self, state: State, row: int = 0, *, time_limit: float | None = None) -> int:
        """The value of match `row` of `state`; faster than `solve`. Raises TimeLimitError (time_limit: seconds)."""
        position = _position(state, row)
        return self._interruptibly(lambda stop: self._value(position, stop), time_limit)

    def solve(self, state: State, row: int = 0, *, time_limit: float | None = None) -> SolvedPosition:
        """The value of match `row` of `state` and best play to its end. Raises TimeLimitError (time_limit: seconds)."""
        position = _position(state, row)

        def search(stop: StopFlag) -> SolvedPosition:
            value = self._value(position, stop)
            actions = tuple(self._best_actions(position, value, stop))
            return SolvedPosition(value, actions[0] if actions else None, actions, self.visited)

        return self._interruptibly(search, time_limit)

    def action_values(
        self,
        state: State,
        row: int = 0,
        *,
        time_limit: float | None = None,
        on_value: Callable[[int, int], None] | None = None,
        known: Collection[int] = (),
    ) -> dict[int, int]:
        """The value to the player to move of every legal action of match `row` of `state`, in ascending order.

        A pass counts as an action. Empty where the match is over.

        Args:
            time_limit: seconds for all actions together.
            on_value: called with each action and its value as soon as it is known, once each, perhaps in another
                thread.
            known: actions to leave out.

        Raises:
            TimeLimitError: time_limit is too short.
        """
        position, values = _position(state, row), dict[int, int]()

        def search(stop: StopFlag) -> dict[int, int]:
            for action, after in self._successors(position):
                if action in known or action in values:
                    continue
                values[action] = -self._value(after, stop)
                if on_value:
                    on_value(action, values[action])
            return values

        return self._interruptibly(search, time_limit)

    def values_within(self, state: State, lowest: Words, highest: Words, expected: Words | None = None) -> Words:
        """int64[B]: the value of each position, clipped to lowest..highest (int64[B] each).

        A narrower interval is faster; v..v+1 asks whether the value is at most v. Give related positions in one call.

        Args:
            expected: int64[B], guesses of the values: good ones save time; 0 by default.
        """
        guesses = np.zeros_like(lowest) if expected is None else expected
        positions = state.position.numpy()
        return self._interruptibly(lambda stop: self._values_within(positions, lowest, highest, guesses, stop), None)

    def best_actions(self, state: State) -> tuple[Words, Words]:
        """int64[B]: the best action of each position, the lowest of equally good ones; -1 where the match is over.

        And int64[B], the values of the positions. For a batch this is faster than `solve`.
        """
        rows, actions = self.game.legal_action_mask(state).nonzero(as_tuple=True)
        after = self.game.step_unchecked(state.select(rows), actions).position.numpy()
        number = np.bincount(rows, minlength=state.batch_size)

        def search(stop: StopFlag) -> tuple[Words, Words]:
            values = np.array(
                [self._value(position[None], stop) for position in state.position.numpy()], dtype=np.int64
            )
            place, best = np.cumsum(number) - number, np.full_like(values, -1)
            last, open_rows = place + number - 1, np.flatnonzero(number)
            while len(open_rows):
                places = place[open_rows]
                # The last of the actions is the best if no other is.
                is_best, tried = places == last[open_rows], np.flatnonzero(places < last[open_rows])
                worth, moves = -values[open_rows[tried]], places[tried]
                is_best[tried] = self._values_within(after[moves], worth, worth + 1, worth, stop) <= worth
                best[open_rows[is_best]] = actions.numpy()[places[is_best]]
                open_rows = open_rows[~is_best]
                place[open_rows] += 1
            return best, values

        return self._interruptibly(search, None)

    def best_action_mask(self, state: State) -> Tensor:
        """bool[B, A]: all best actions of each position, those of the highest value; none where the match is over."""
        mask = self.game.legal_action_mask(state)
        rows, actions = mask.nonzero(as_tuple=True)
        after = self.game.step_unchecked(state.select(rows), actions)
        no_bounds = np.full(state.batch_size, EVERY_LOSS, dtype=np.int64)
        worth = -self.values_within(state, no_bounds, -no_bounds)[rows.numpy()]
        is_best = self.values_within(after, worth, worth + 1, worth) <= worth
        return mask.masked_scatter(mask, torch.from_numpy(is_best))

    @abstractmethod
    def value_text(self, value: int, state: State, row: int = 0) -> str:
        """A value of match `row` of `state` to the player to move, in words, such as "wins by 6"."""

    def plies_to_end(self, value: int, state: State, row: int = 0) -> int:
        """The number of plies, including passes, to the end of best play from match `row` of `state`.

        value: the value of the position, from `value`. If it determines the number, nothing is searched.
        """
        return len(self.solve(state, row).principal_variation)

    @property
    def visited(self) -> int:
        """Number of positions visited in the last call."""
        return int(self._progress["visited"][0])

    @abstractmethod
    def _values_within(
        self, positions: Packed, lowest: Words, highest: Words, expected: Words, stop: StopFlag
    ) -> Words:
        """As `values_within`, of packed positions (int64[B, W]). Raises StoppedError."""

    def _value(self, position: Packed, stop: StopFlag) -> int:
        """The value of a position (int64[1, W]). Raises StoppedError."""
        return self._within(position, EVERY_LOSS, -EVERY_LOSS, stop)

    def _within(self, position: Packed, lowest: int, highest: int, stop: StopFlag) -> int:
        """The value of a position, clipped to lowest..highest. Raises StoppedError."""
        numbers = np.array([[lowest], [highest], [0]], dtype=np.int64)
        return int(self._values_within(position, numbers[0], numbers[1], numbers[2], stop)[0])

    def _interruptibly(self, search: Callable[[StopFlag], Result], time_limit: float | None) -> Result:
        """The result of `search`, which may be called again after it has raised StoppedError."""
        self._progress["visited"] = 0
        return run_interruptibly(search, time_limit, "solving the position", quick_steps=self.quick_positions)

    def _best_actions(self, position: Packed, value: int, stop: StopFlag) -> Iterator[int]:
        """The lowest of the best actions here, then in the position after it, to the end of the match."""
        while successors := list(self._successors(position)):
            value = -value
            action, position = next(
                (action, after)
                for action, after in successors
                if len(successors) == 1 or self._within(after, value, value + 1, stop) <= value
            )
            yield action

    def _successors(self, position: Packed) -> Iterator[tuple[int, Packed]]:
        """Each legal action, in ascending order, and the position that it leads to."""
        state = self.game.state_at(torch.from_numpy(position))
        actions = self.game.legal_action_mask(state)[0].nonzero()[:, 0]
        after = self.game.step_unchecked(state.select(torch.zeros_like(actions)), actions)
        yield from zip(actions.tolist(), after.position.numpy()[:, None], strict=True)


def _position(state: State, row: int) -> Packed:
    """int64[1, W]: the position of match `row`."""
    position: Packed = state.position.numpy()[row][None]
    return position


EXACT_SOLVERS: Registry[type[ExactSolver]] = Registry(
    "exact solver",
    {
        "discs": "selfplay.search.endgame.solver:EndgameSolver",
        "connect_four": "selfplay.search.connect_four.solver:ConnectFourSolver",
    },
    "selfplay.exact_solvers",
    ("practical_empties", "counts_points"),
)
"""The classes of the solvers, called with (game, table_bits). `Game.exact_solver` names one of them."""


def solver_class(game: Game) -> type[ExactSolver]:
    """The class of the exact solver of `game`. Raises SettingError if it has none."""
    if game.exact_solver is None:
        solved = ", ".join(name for name in game_names() if make_game(name).exact_solver is not None)
        raise SettingError(
            f"game={game.name} has no exact solver; games with one: {solved}; selfplay compare game={game.name} proves "
            "how well levels play if all positions can be enumerated"
        )
    return EXACT_SOLVERS[game.exact_solver]


def make_exact_solver(game: Game | str, table_bits: int = 20) -> ExactSolver:
    """The exact solver of a game, or of the one with this name, with a table of 2**table_bits entries.

    Raises SettingError if the game has none or table_bits is out of range.
    """
    make: Any = solver_class(game := make_game(game))
    solver: ExactSolver = make(game, table_bits)
    return solver


def solves_whole_matches(game: Game) -> bool:
    """Whether `game` has an exact solver that solves matches from their start in practical time."""
    return game.exact_solver is not None and int(empties(game, game.init())[0]) <= solver_class(game).practical_empties


def empties(game: Game, state: State) -> Tensor:
    """int64[B]: the number of empty squares of each position, in a game with a board."""
    assert game.num_squares is not None, "games with exact solvers have boards"
    counts: Tensor = game.num_squares - game.stone_counts(state)
    return counts


def check_table_bits(table_bits: int, fewest: int) -> None:
    """Raise SettingError if a table cannot have 2**table_bits entries."""
    if not fewest <= table_bits <= 30:
        raise SettingError(f"table_bits={table_bits}: must be from {fewest} to 30")
