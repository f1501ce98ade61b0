"""The tables of a walk, and its report, made from the row of proof.csv."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfplay.tables import COUNT, TEXT, Columns, read_rows

PROOF_COLUMNS: Columns = {
    **dict.fromkeys(("player", "seat", "replies", "walk", "after", "start"), TEXT),
    **dict.fromkeys(("proved", "plies", "positions", "judged", "solved", "won", "drawn", "lost"), COUNT),
    **dict.fromkeys(("wins_given_away", "draws_given_away", "losses_hastened"), COUNT),
    **{"line": TEXT, "value": COUNT, "in_words": TEXT, "best": TEXT, "best_value": COUNT, "best_in_words": TEXT},
}
"""The columns of proof.csv."""
PLY_COLUMNS: Columns = {
    **dict.fromkeys(("ply", "is_turn", "positions", "won", "drawn", "lost", "solved"), COUNT),
    **dict.fromkeys(("wins_given_away", "draws_given_away", "losses_hastened"), COUNT),
    "line": TEXT,
}
"""The columns of plies.csv."""

PROVED = {
    ("win", "all"): "is proved to win moving {seat} against every play",
    ("draw", "all"): "is proved not to lose moving {seat}, and to win if the opponent allows it",
    ("loss", "all"): "moving {seat} is proved never to lose by more or sooner than necessary, and to take every win or "
    "draw that the opponent allows",
    ("win", "best"): "is proved to win moving {seat} against every best reply",
    ("draw", "best"): "is proved not to lose moving {seat} against every best reply",
    ("loss", "best"): "moving {seat} is proved never to lose by more or sooner than necessary against every best reply",
}
"""What is proved, by the exact result of the start and by the replies of the opponent that were walked."""


def read_result(path: Path, command: str) -> dict[str, Any]:
    """The row of the file proof.csv at `path`.

    Raises InvalidFileError if it is not such a file; the message names the command that makes it.
    """
    return read_rows(path, PROOF_COLUMNS, f"a table of a proof; {command} with force=true makes it again")[0]


def proof_report(row: Mapping[str, Any]) -> str:
    """What was proved or refuted, and how many positions were walked, in a few lines."""
    lines = [_verdict(row), _counts(row)]
    if row["solved"]:
        lines.append(
            f"In {row['solved']:,} further positions it plays by the exact solver itself; lines end there, because it "
            "can make no mistake (walk_solved=true walks them too)."
        )
    if row["walk"] == "all":
        won, drawn, lost = (f"{row[result]:,} {result}" for result in ("won", "drawn", "lost"))
        lines.append(f"Finished matches: {won}, {drawn}, {lost} positions.")
    return "\n".join(lines)


def _verdict(row: Mapping[str, Any]) -> str:
    name = f"{row['player']} after {row['after']}" if row["after"] else row["player"]
    if row["proved"]:
        proved = PROVED[row["start"], row.get("replies", "all")]
        return f"{name} {proved.format(seat=row['seat'])}."
    *before, action = row["line"].split()
    where = f"after {' '.join(before)} it plays" if before else "it begins with"
    mistake = f"{where} {action}, which {row['in_words']}; {row['best']} {row['best_in_words']}"
    best = row["best_value"]
    deed = "loses by more or sooner than necessary" if best < 0 else f"gives the {'win' if best > 0 else 'draw'} away"
    return f"{name} moving {row['seat']} {deed}: {mistake}."


def _counts(row: Mapping[str, Any]) -> str:
    walked = f"{row['positions']:,} positions were walked, and its actions judged in {row['judged']:,} of them"
    if row["proved"]:
        return f"All {walked}."
    if row["walk"] == "first_mistake":
        return f"No line to a mistake is shorter: {walked}."
    given = f"it gives the win away in {row['wins_given_away']:,}, the draw in {row['draws_given_away']:,}"
    # From another start, this is no mistake and was not counted.
    hastened = (
        f", and loses by more or sooner than necessary in {row['losses_hastened']:,}" if row["start"] == "loss" else ""
    )
    return f"All {walked}: {given}{hastened}. No line to a mistake is shorter."
