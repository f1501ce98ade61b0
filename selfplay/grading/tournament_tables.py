"""The results of a tournament, its tables tournament/pairs.csv and players.csv, and the report."""

from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from selfplay.games.win_draw_loss import WinDrawLoss, total
from selfplay.grading.proof import Grade
from selfplay.grading.ratings import points_won, rate
from selfplay.grading.tables import EXACT_PAIR_COLUMNS, GRADE_COLUMNS, PAIR_COLUMNS, PLAYER_COLUMNS, table_of
from selfplay.matches.series import PairResult

Pair = tuple[int, int]
"""The numbers of two players, the lower one first."""


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
            {
                "player": self.names[one],
                "opponent": self.names[other],
                **played.results._asdict(),
                "distinct": played.distinct,
                "forfeits": played.forfeits,
                "opponent_forfeits": played.opponent_forfeits,
                **dict(zip(EXACT_PAIR_COLUMNS, self.exact.get((one, other), (None, None, None)), strict=True)),
            }
            for (one, other), played in self.results.items()
        ]
        return table_of(PAIR_COLUMNS, rows)

    def players_table(self) -> pd.DataFrame:
        """players.csv, the highest rating first."""
        numbers = range(len(self.names))
        ratings = rate(numbers, ((pair, result.results) for pair, result in self.results.items()))
        rows = [
            {"player": name, **ratings[number].fields(), **self._total(number)._asdict()}
            | (grade.fields() if grade else {})
            for number, (name, grade) in enumerate(zip_longest(self.names, self.grades))
        ]
        table = table_of(PLAYER_COLUMNS | (GRADE_COLUMNS if self.grades else {}), rows)
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)

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
