"""The results of a walk, the columns of their tables proof.csv and plies.csv, and the report."""

from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.grading.table_columns import Column, of_part, read_rows
from selfplay.grading.winning_proof.walk import PlyCounts

PROOF_TABLE = "the result of a proof; force=true makes it again"
PLIES_TABLE = "a table of plies; force=true makes it again"
"""What error messages call the files, and how to replace them."""

STARTS = {1: "win", 0: "draw", -1: "loss"}


class FirstMistake(NamedTuple):
    """The first mistake of a player, at the end of a shortest line to one."""

    line: str
    """The actions from the start of the match; the last one is the mistake."""
    value: int
    """The exact value, to the player, of its action."""
    in_words: str
    """The same in words, such as "loses in 12"."""
    best: str
    """The best actions."""
    best_value: int
    best_in_words: str


class ProofResult(NamedTuple):
    """The row of proof.csv."""

    player: str
    seat: str
    walk: str
    after: str
    start: str
    """win, draw or loss: the exact result of the start of the walk to the player."""
    plies: int
    positions: int
    judged: int
    solved: int
    won: int
    drawn: int
    lost: int
    wins_given_away: int
    draws_given_away: int
    losses_hastened: int
    mistake: FirstMistake | None

    @property
    def proved(self) -> bool:
        """Whether every line was walked without a mistake."""
        return self.mistake is None


MISTAKES = ("wins_given_away", "draws_given_away", "losses_hastened")
SUMMED = ("positions", "judged", "solved", "won", "drawn", "lost", *MISTAKES)
MISTAKE_MEANING = (
    "positions in which its action gives a win away, gives a draw away, or loses a lost match by more or sooner than "
    "need be"
)
FINISHED_MEANING = "positions in which the match is over, with the player's result"


def proof_result(
    names: tuple[str, str, str, str], start: int, plies: list[PlyCounts], mistake: FirstMistake | None
) -> ProofResult:
    """The sums over all plies. `names`: the player, its seat, the walk and the actions before its start."""
    sums: dict[str, Any] = {name: sum(getattr(counts, name) for counts in plies) for name in SUMMED}
    player, seat, walk, after = names
    return ProofResult(player, seat, walk, after, STARTS[start], len(plies), **sums, mistake=mistake)


def _count(name: str, meaning: str) -> "Column[ProofResult]":
    return Column(name, meaning, attrgetter(name), int)


def _text(name: str, meaning: str) -> "Column[ProofResult]":
    return Column(name, meaning, attrgetter(name), str)


def _of_mistake(name: str, meaning: str, kind: type[int] | type[str] = str) -> "Column[ProofResult]":
    return Column(name, meaning, of_part(attrgetter("mistake"), attrgetter(name)), kind)


PROOF_COLUMNS: tuple[Column[ProofResult], ...] = (
    _text("player", "name of the examined player"),
    _text("seat", "`first` or `second`: whether it moves first in the match"),
    _text("walk", "`first_mistake` or `all`"),
    _text("after", "the actions before the start of the walk; empty: the start of the match"),
    _text("start", "exact result of the start of the walk for the player: `win`, `draw` or `loss`"),
    Column("proved", "1 if all lines were walked without a mistake, else 0", lambda result: int(result.proved), int),
    _count("plies", "number of plies walked, the start included"),
    _count("positions", "different positions walked"),
    _count("judged", "positions in which the player's action was judged"),
    _count("solved", "positions that the player solves exactly itself; they are not walked further"),
    *(_count(name, FINISHED_MEANING) for name in ("won", "drawn", "lost")),
    *(_count(name, MISTAKE_MEANING) for name in MISTAKES),
    _of_mistake("line", "a shortest line to a mistake, which is its last action; empty if there is none"),
    _of_mistake("value", "exact value of that action to the player", int),
    _of_mistake("in_words", "the same in words"),
    _of_mistake("best", "the best actions instead, such as `2 or 6`"),
    _of_mistake("best_value", "their exact value", int),
    _of_mistake("best_in_words", "the same in words"),
)


def read_result(path: Path) -> ProofResult:
    """The result in proof.csv. Raises InvalidFileError if the file is broken."""
    row = read_rows(path, PROOF_COLUMNS, PROOF_TABLE)[0]
    fields = {name: row[name] for name in ProofResult._fields[:-1]} | {"after": row["after"] or ""}
    mistake = None if row["line"] is None else FirstMistake(**{name: row[name] for name in FirstMistake._fields})
    return ProofResult(**fields, mistake=mistake)


def _ply_count(name: str, meaning: str) -> "Column[PlyCounts]":
    return Column(name, meaning, lambda counts: int(getattr(counts, name)), int)


def _line(counts: PlyCounts) -> str | None:
    return None if counts.line is None else " ".join(map(str, counts.line))


PLY_COLUMNS: tuple[Column[PlyCounts], ...] = (
    _ply_count("ply", "number of plies since the start of the match"),
    _ply_count("is_turn", "1 if the player is to move, 0 if its opponent is"),
    _ply_count("positions", "different positions after these plies; with `walk=first_mistake` up to the mistake"),
    *(_ply_count(name, FINISHED_MEANING) for name in ("won", "drawn", "lost")),
    _ply_count("solved", "positions that the player solves exactly itself"),
    *(_ply_count(name, MISTAKE_MEANING) for name in MISTAKES),
    Column("line", "numbers of the actions from the start of the walk to the first mistake in this ply", _line, str),
)


def counts_from_row(row: dict[str, Any]) -> PlyCounts:
    """The counts in a row of plies.csv."""
    line = None if row["line"] is None else tuple(map(int, str(row["line"]).split()))
    return PlyCounts(**{**row, "is_turn": bool(row["is_turn"]), "line": line})


PROVED = {
    "win": "is proved to win moving {seat} against every play",
    "draw": "is proved not to lose moving {seat}, and to win where the opponent lets it",
    "loss": "moving {seat} is proved never to lose more or sooner than need be, and to take every win or draw that the "
    "opponent lets it",
}


def proof_report(result: ProofResult) -> str:
    """What was proved or refuted, and how many positions were walked, in a few lines."""
    lines = [_verdict(result), _counts(result)]
    if result.solved:
        lines.append(
            f"In {result.solved:,} further positions it plays by the exact solver itself; lines end there, because it "
            "can make no mistake (walk_solved=true walks them too)."
        )
    if result.walk == "all":
        lines.append(f"Finished matches: {result.won:,} won, {result.drawn:,} drawn, {result.lost:,} lost positions.")
    return "\n".join(lines)


def _verdict(result: ProofResult) -> str:
    name = f"{result.player}{f' after {result.after}' if result.after else ''}"
    if result.mistake is None:
        return f"{name} {PROVED[result.start].format(seat=result.seat)}."
    return f"{name} moving {result.seat} {_deed(result.mistake)}: {_mistake_text(result.mistake)}."


def _deed(mistake: FirstMistake) -> str:
    if mistake.best_value > 0:
        return "gives the win away"
    return "gives the draw away" if mistake.best_value == 0 else "loses more or sooner than need be"


def _mistake_text(mistake: FirstMistake) -> str:
    *before, action = mistake.line.split()
    where = f"after {' '.join(before)} it plays" if before else "it begins with"
    return f"{where} {action}, which {mistake.in_words}; {mistake.best} {mistake.best_in_words}"


def _counts(result: ProofResult) -> str:
    walked = f"{result.positions:,} positions were walked, and its actions judged in {result.judged:,} of them"
    if result.mistake is None:
        return f"All {walked}."
    if result.walk == "first_mistake":
        return f"No line to a mistake is shorter: {walked}."
    return (
        f"All {walked}: it gives the win away in {result.wins_given_away:,}, the draw in {result.draws_given_away:,}, "
        f"and loses more or sooner than need be in {result.losses_hastened:,}. No line to a mistake is shorter."
    )
