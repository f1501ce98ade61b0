"""The report of a tournament for the screen."""

import pandas as pd

from selfplay.grading.tournament_tables import Tournament

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
