"""Perfect play: from the values of all positions in games that can be enumerated, else by an exact solver."""

from contextlib import suppress
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import GameTooLargeError
from selfplay.games.game import Game
from selfplay.games.position_graph import PositionGraph, enumerate_positions
from selfplay.games.state import State
from selfplay.players.graph_player import GraphPlayer
from selfplay.players.solver_player import TABLE_BITS, SharedSolverPlayer, SolverPlayer, ValueKind
from selfplay.search.backward_induction import perfect_values
from selfplay.search.exact_solver import ExactSolver, make_exact_solver, solves_whole_matches
from selfplay.search.shared_solver import SharedSolver, Solving

SOLVED_AT_ONCE = 100_000
"""The largest number of positions that are enumerated while a person waits; this takes about a second."""
OUTCOMES = {1.0: "wins", 0.0: "draws", -1.0: "loses"}


class PerfectPlayer(GraphPlayer):
    """Takes one of the actions that keep the perfect value of the position. Values are returns in {-1, 0, 1}."""

    name = "perfect"
    value_kind: ValueKind = "results"

    def __init__(self, graph: PositionGraph, ties: str = "random") -> None:
        super().__init__(graph, ties)
        self._perfect = perfect_values(graph)

    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        return 0.0 - self._perfect[self.graph.children[numbers]]

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in match `row` of `state`, in words."""
        return OUTCOMES[value]

    def ask(self, state: State) -> Solving:
        """The values of the actions of a position (B = 1), in the form in which those of a solver come."""
        solving = Solving(state)
        values = self._values(state)[0]
        solving.values = {int(action): int(values[action]) for action in np.flatnonzero(~np.isnan(values))}
        solving.finished.set_result(None)
        return solving

    def with_time_limit(self, seconds: float | None) -> Self:
        """This player, which never needs time."""
        return self


PerfectPlay = PerfectPlayer | SharedSolverPlayer

_perfect_players: dict[tuple[type[Game], str], PerfectPlay | None] = {}


def perfect_player_of(game: Game) -> PerfectPlay | None:
    """Perfect play of `game`, made once per process. Several threads may use it.

    None if the game has more than SOLVED_AT_ONCE positions and no exact solver that reaches its start.
    """
    key = _key(game)
    if key not in _perfect_players:
        found: PerfectPlay | None = _shared_solver_player(game)
        if found is None:
            with suppress(GameTooLargeError):
                found = PerfectPlayer(enumerate_positions(game, SOLVED_AT_ONCE))
        # Only now, because other threads take what is there for the result.
        _perfect_players[key] = found
    return _perfect_players[key]


def whole_game_solver_player(game: Game, ties: str = "random") -> SolverPlayer[ExactSolver] | None:
    """Perfect play by the exact solver of `game`; None if it has none, or one that solves only the ends of matches."""
    return SolverPlayer(make_exact_solver(game, TABLE_BITS), ties) if solves_whole_matches(game) else None


def _shared_solver_player(game: Game) -> SharedSolverPlayer | None:
    return SharedSolverPlayer(SharedSolver(partial(make_exact_solver, game))) if solves_whole_matches(game) else None


def is_found_out(game: Game) -> bool:
    """Whether `perfect_player_of` returns at once because it has been called for this game."""
    return _key(game) in _perfect_players


def _key(game: Game) -> tuple[type[Game], str]:
    return type(game), game.name
