"""The results of a tournament, and its tables tournament/pairs.csv and players.csv with their columns."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from selfplay.games.win_draw_loss import WinDrawLoss, total
from selfplay.grading.comparison_columns import RESULT_FIELDS, RESULTS, grade_columns, rating_columns
from selfplay.grading.proof import Grade
from selfplay.grading.ratings import Rating, points_won, rate
from selfplay.grading.table_columns import Column, table_of
from selfplay.matches.series import PairResult
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


SHOWN = (
    *("player", "rating", "95 %", "wins", "draws", "losses"),
    *("exact_win_vs_random", "exact_loss_vs_random", "losing_lines_first", "losing_lines_second"),
)
"""The columns of players.csv that are shown, to fit the screen."""


def tournament_report(tournament: Tournament) -> str:
    """The cross-table of wins-draws-losses, counted for the player of the row, and the table of players."""
    names = tournament.names
    cells = [["" for _ in names] for _ in names]
    for (one, other), result in tournament.results.items():
        cells[one][other] = str(result.results)
        cells[other][one] = str(result.results.reversed())
    numbers = [str(number) for number in range(1, len(names) + 1)]
    index = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
    cross = pd.DataFrame(cells, index=index, columns=numbers).to_string()
    table = tournament.players_table()
    ends = zip(table["rating_low"], table["rating_high"], strict=True)
    table["95 %"] = [f"{low:.0f}..{high:.0f}" for low, high in ends]
    table["rating"] = table["rating"].round().astype(int)
    table = table[[column for column in SHOWN if column in table]]
    shown = table.to_string(index=False, float_format="{:.4f}".format)
    return "\n\n".join([cross, shown, *_forfeits_text(tournament)])


def _forfeits_text(tournament: Tournament) -> list[str]:
    """A paragraph with a line for each pair in which a player forfeited matches; empty if there are none."""
    names = tournament.names
    counts = [
        (player, opponent, count)
        for (one, other), result in tournament.results.items()
        for player, opponent, count in (
            (names[one], names[other], result.forfeits),
            (names[other], names[one], result.opponent_forfeits),
        )
    ]
    lines = [f"{player} forfeited {count} of its losses against {other}" for player, other, count in counts if count]
    return ["\n".join(lines)] if lines else []
