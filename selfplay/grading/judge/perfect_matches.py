"""Matches of players against perfect play, from the start of a match, in each seat.

Perfect play takes any of its best actions, each equally likely, so that the matches differ.
"""

from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple, TypeVar

from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.matches.pair_results import count_matches
from selfplay.players.perfect import SolverPlayer
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import ExactSolver

Who = TypeVar("Who")


class SeatResults(NamedTuple):
    """A player's results against perfect play, by its seat."""

    first: WinDrawLoss[int]
    """Moving first."""
    second: WinDrawLoss[int]
    """Moving second."""


def play_against_perfect(
    perfect: SolverPlayer[ExactSolver],
    players: Mapping[Who, Player],
    matches: int,
    key: int,
    batch_size: int | None,
    progress: ProgressBar = NoProgress,
) -> dict[Who, SeatResults]:
    """The results of each player in `matches` matches in each seat. The players do not learn from them.

    `key`: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
    """
    results: dict[Who, SeatResults] = {}
    with closing(progress(total=2 * len(players), desc="against perfect play")) as bar:
        for who, player in players.items():
            first = count_matches(perfect.game, (player, perfect), matches, key, batch_size, alternate=False)
            bar.update(1)
            second = count_matches(perfect.game, (perfect, player), matches, key, batch_size, alternate=False)
            bar.update(1)
            results[who] = SeatResults(first.results, second.results.reversed())
    return results
