"""Perfect play in games that can be enumerated: the player knows the value of every position."""

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import GameTooLargeError
from selfplay.games.game import Game
from selfplay.games.position_graph import PositionGraph, enumerate_positions
from selfplay.players.graph_player import GraphPlayer
from selfplay.search.backward_induction import perfect_values

SOLVED_AT_ONCE = 100_000
"""The largest number of positions that are enumerated while a person waits; this takes about a second."""


class PerfectPlayer(GraphPlayer):
    """Takes one of the actions that keep the perfect value of the position. Values are returns in {-1, 0, 1}."""

    name = "perfect"

    def __init__(self, graph: PositionGraph, ties: str = "random") -> None:
        super().__init__(graph, ties)
        self._perfect = perfect_values(graph)

    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        return 0.0 - self._perfect[self.graph.children[numbers]]


_perfect_players: dict[tuple[type[Game], str], PerfectPlayer | None] = {}


def perfect_player_of(game: Game) -> PerfectPlayer | None:
    """Perfect play of `game`, or None if it has more than SOLVED_AT_ONCE positions; computed once per process."""
    key = _key(game)
    if key not in _perfect_players:
        try:
            _perfect_players[key] = PerfectPlayer(enumerate_positions(game, SOLVED_AT_ONCE))
        except GameTooLargeError:
            _perfect_players[key] = None
    return _perfect_players[key]


def is_found_out(game: Game) -> bool:
    """Whether `perfect_player_of` returns at once because it has been called for this game."""
    return _key(game) in _perfect_players


def _key(game: Game) -> tuple[type[Game], str]:
    return type(game), game.name
