"""The columns that an exact solver fills: of levels.csv and references.csv, and those of mistakes.csv."""

from collections.abc import Callable
from typing import NamedTuple

from selfplay.grading.judge.perfect_matches import SeatResults
from selfplay.grading.judge.positions import JudgedGrade, MoveQuality
from selfplay.grading.table_columns import Column, Row

JUDGED = "judged"
"""The family of games whose exact solver solves matches from their start."""
ALL_GROUPS = "all"
"""What mistakes.csv calls the positions of all groups together."""


class GroupFacts(NamedTuple):
    """A row of mistakes.csv: a player in a group of positions."""

    level: int | None
    """The player's level; None for a reference."""
    player: str
    group: str
    quality: MoveQuality


def quality_columns(
    quality: Callable[[Row], MoveQuality | None], prefix: str = "", family: str = "", *, in_sweep: bool = False
) -> tuple[Column[Row], ...]:
    """The shares of mistakes and of perfect actions, and the points lost."""

    def of(field: str) -> Callable[[Row], float | None]:
        return lambda row: None if (found := quality(row)) is None else getattr(found, field)

    meanings = {
        "mistake_rate": ("mistakes", "share of judged positions in which its action gives a win or a draw away"),
        "perfect_rate": ("perfect", "share of judged positions in which its action has the best exact value"),
        "points_lost": ("points_lost", "how far the exact value of its action is below the best one, on average"),
    }
    return tuple(
        Column(f"{prefix}{name}", meaning, of(field), family=family, in_sweep=in_sweep)
        for name, (field, meaning) in meanings.items()
    )


def judged_columns(grade: Callable[[Row], JudgedGrade | None], *, in_sweep: bool = False) -> tuple[Column[Row], ...]:
    """The columns of a player's grade in all judged positions."""

    def overall(row: Row) -> MoveQuality | None:
        return None if (found := grade(row)) is None else found.overall

    return quality_columns(overall, "judged_", JUDGED, in_sweep=in_sweep)


def against_perfect_columns(results: Callable[[Row], SeatResults | None]) -> tuple[Column[Row], ...]:
    """The counts of matches against perfect play, by seat."""

    def count(seat: str, name: str) -> Callable[[Row], int | None]:
        return lambda row: None if (found := results(row)) is None else getattr(getattr(found, seat), name)

    return tuple(
        Column(
            f"{name}_vs_perfect_{seat}",
            f"matches won, drawn and lost against perfect play, moving {seat}",
            count(seat, name),
            int,
            family=JUDGED,
        )
        for seat in SeatResults._fields
        for name in ("wins", "draws", "losses")
    )


_GROUP_QUALITY: tuple[Column[GroupFacts], ...] = quality_columns(lambda row: row.quality)
GROUP_COLUMNS: tuple[Column[GroupFacts], ...] = (
    Column("level", "the player's level; empty for a reference", lambda row: row.level, int),
    Column("player", "the player's name, as for `selfplay tournament`", lambda row: row.player, str),
    Column("group", "the group of positions, such as `begin-hard`; `all` for all of them", lambda row: row.group, str),
    Column("positions", "number of positions in the group", lambda row: row.quality.positions, int),
    *_GROUP_QUALITY,
)
"""mistakes.csv, a row per player and group."""
