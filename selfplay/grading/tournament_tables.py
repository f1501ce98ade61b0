"""The results of a tournament, and its tables tournament/pairs.csv and players.csv with their columns."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from selfplay.games.win_draw_loss import WinDrawLoss, total
from selfplay.grading.comparison_columns import RESULT_FIELDS, RESULTS, grade_columns, rating_columns
from selfplay.grading.grade import Grade
from selfplay.grading.ratings import Rating, points_won, rate
from selfplay.grading.table_columns import Column, table_of
from selfplay.matches.pair_results import PairResult
from selfplay.settings.command_lines import command_line

Pair = tuple[int, int]
"""The numbers of two players, the lower one first."""


class PlayedPair(NamedTuple):
    """A row of pairs.csv."""

    player: str
    opponent: str
    result: PairResult
    exact: WinDrawLoss[float] | None
    """Probabilities over both seats; None if they are not known."""


class RatedPlayer(NamedTuple):
    """A row of players.csv."""

    name: str
    rating: Rating
    results: WinDrawLoss[int]
    """Against all others."""
    grade: Grade | None


def _count(name: str) -> "Column[PlayedPair]":
    meaning = "matches won, drawn and lost by `player`"
    return Column(name, meaning, lambda pair: getattr(pair.result.results, name), int)


def _probability(outcome: str) -> "Column[PlayedPair]":
    def value(pair: PlayedPair) -> float | None:
        return None if pair.exact is None else getattr(pair.exact, RESULT_FIELDS[outcome])

    meaning = "exact probability of each result, without exploration; empty in large games"
    return Column(f"exact_{outcome}", meaning, value)


def _total(name: str) -> "Column[RatedPlayer]":
    return Column(name, "matches won, drawn and lost in all", lambda player: getattr(player.results, name), int)


def _rating(player: RatedPlayer) -> Rating:
    return player.rating


PAIR_COLUMNS: tuple[Column[PlayedPair], ...] = (
    Column("player", "names of the two players", lambda pair: pair.player, str),
    Column("opponent", "names of the two players", lambda pair: pair.opponent, str),
    *map(_count, RESULTS),
    Column(
        "distinct",
        "number of matches that differ in an action or in who moved first",
        lambda pair: pair.result.distinct,
        int,
    ),
    Column("forfeits", "losses that `player` forfeited", lambda pair: pair.result.forfeits, int),
    Column("opponent_forfeits", "wins that `opponent` forfeited", lambda pair: pair.result.opponent_forfeits, int),
    *map(_probability, RESULT_FIELDS),
)

PLAYER_TABLE = f"a table of players; {command_line('tournament')} writes it again"
"""What error messages call players.csv, and how to replace it."""

PLAYER_COLUMNS: tuple[Column[RatedPlayer], ...] = (
    Column("player", "name of the player", lambda player: player.name, str),
    *rating_columns(_rating),
    *map(_total, RESULTS),
)
EXACT_PLAYER_COLUMNS: tuple[Column[RatedPlayer], ...] = grade_columns(lambda player: player.grade)
"""More columns of players.csv in games that can be enumerated."""


class Tournament(NamedTuple):
    """The results of P players."""

    names: list[str]
    results: dict[Pair, PairResult]
    """Counted for the first of each pair."""
    exact: dict[Pair, WinDrawLoss[float]]
    """Exact probabilities for the first of each pair, over both seats; empty if the game is too large to enumerate."""
    grades: list[Grade | None]
    """The grade of each player, None for players that follow their matches; empty if the game is too large."""

    def scores(self) -> NDArray[np.float64]:
        """float64[P, P]: the points that each player won against each other, a draw half a point; 0 on the diagonal."""
        return points_won(range(len(self.names)), ((pair, result.results) for pair, result in self.results.items()))

    def pairs_table(self) -> pd.DataFrame:
        """pairs.csv"""
        rows = [
            PlayedPair(self.names[pair[0]], self.names[pair[1]], result, self.exact.get(pair))
            for pair, result in self.results.items()
        ]
        return table_of(PAIR_COLUMNS, rows)

    def players_table(self) -> pd.DataFrame:
        """players.csv, the highest rating first."""
        numbers = range(len(self.names))
        ratings = rate(numbers, ((pair, result.results) for pair, result in self.results.items()))
        rows = [
            RatedPlayer(self.names[number], ratings[number], self._total(number), grade)
            for number, grade in zip(numbers, self.grades or [None] * len(numbers), strict=True)
        ]
        columns = [*PLAYER_COLUMNS, *(EXACT_PLAYER_COLUMNS if self.grades else ())]
        return table_of(columns, rows).sort_values("rating", ascending=False, kind="stable", ignore_index=True)

    def _total(self, number: int) -> WinDrawLoss[int]:
        return total(
            result.results if number == one else result.results.reversed()
            for (one, other), result in self.results.items()
            if number in (one, other)
        )
