"""The columns of comparison/levels.csv, matches.csv and references.csv: their names, meanings and values."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from selfplay.games.win_draw_loss import WinDrawLoss, mean_of_seats, sign_test, wilson_interval
from selfplay.grading.endgame_positions import EndgameGrade
from selfplay.grading.judged_positions import JudgedGrade
from selfplay.grading.judgement import SeatResults, against_perfect_columns, judged_columns
from selfplay.grading.proof import SEAT_NAMES, Grade
from selfplay.grading.ratings import Rating
from selfplay.grading.table_columns import Column, Field, Row, of_part
from selfplay.matches.series import PairResult
from selfplay.settings.command_lines import command_line

RESULTS = ("wins", "draws", "losses")
VERBS = {"wins": "won", "draws": "drawn", "losses": "lost"}
ENDGAMES = "endgames"
"""The family of games with columns of endgame positions."""
RESULT_FIELDS = {"win": "wins", "draw": "draws", "loss": "losses"}
"""Names of probabilities in columns, and the field of WinDrawLoss that holds each."""


class LevelFacts(NamedTuple):
    """A row of levels.csv: everything known about a level."""

    level: int
    versus_previous: PairResult | None
    versus_random: PairResult | None
    grade: Grade | None
    """None if the game is too large to enumerate."""
    endgames: EndgameGrade | None
    """None if the game is small, has no endgame positions, or is judged by an exact solver."""
    judged: JudgedGrade | None
    """None if no exact solver judges the game."""
    against_perfect: SeatResults | None
    """None if no exact solver judges the game, or it did not meet perfect play."""
    rating: Rating | None
    """None while the run is in progress."""


class PairFacts(NamedTuple):
    """A row of matches.csv: two players and their results."""

    level: int | None
    """The player's level; None for a reference."""
    player: str
    opponent: str
    result: PairResult


class ReferenceFacts(NamedTuple):
    """A row of references.csv."""

    name: str
    rating: Rating
    endgames: EndgameGrade | None
    judged: JudgedGrade | None


def result_columns(
    result: Callable[[Row], PairResult | None],
    suffix: str = "",
    opponent: str = "the opponent",
    *,
    in_sweep: bool = False,
) -> tuple[Column[Row], ...]:
    """Counts, their 95 % intervals, the sign test and the number of different matches."""

    of = partial(of_part, result)

    def count(name: str) -> Callable[[PairResult], int]:
        return lambda found: getattr(found.results, name)

    def bound(name: str, end: int) -> Callable[[PairResult], float]:
        return lambda found: wilson_interval(getattr(found.results, name), found.results.matches)[end]

    counts = [
        Column(
            f"{name}{suffix}",
            f"matches won, drawn and lost against {opponent}",
            of(count(name)),
            int,
            in_sweep=in_sweep,
        )
        for name in RESULTS
    ]
    rates = [
        Column(
            f"{name}_rate_{end}{suffix}",
            f"95 % interval (Wilson) of the share of matches {VERBS[name]} against {opponent}",
            of(bound(name, number)),
            in_sweep=in_sweep and name == "wins",
        )
        for name in RESULTS
        for number, end in enumerate(("low", "high"))
    ]
    meaning = (
        f"`better` or `worse` than {opponent} by an exact sign test of wins and losses at the 5 % level, "
        "else `not told apart` (no significant difference)"
    )
    word = Column(f"word{suffix}", meaning, of(lambda found: sign_test(found.results)), str)
    meaning = f"number of matches against {opponent} that differ in an action or in who moved first"
    distinct = Column(f"distinct{suffix}", meaning, of(lambda found: found.distinct), int)
    return (*counts, *rates, word, distinct)


def grade_columns(grade: Callable[[Row], Grade | None]) -> tuple[Column[Row], ...]:
    """The columns of the exact grade of a player, in games that can be enumerated."""

    of = partial(of_part, grade)

    def probability(outcome: str, choose: Callable[[Grade], WinDrawLoss[float]]) -> Callable[[Grade], float]:
        return lambda found: getattr(choose(found), RESULT_FIELDS[outcome])

    def in_seat(seat: int) -> Callable[[Grade], WinDrawLoss[float]]:
        return lambda found: found.versus_random[seat]

    columns: list[Column[Row]] = []
    for outcome in RESULT_FIELDS:
        meaning = f"probability of a {outcome} against the random player, moving first and moving second"
        columns += [
            Column(f"exact_{outcome}_vs_random_{name}", meaning, of(probability(outcome, in_seat(seat))))
            for seat, name in enumerate(SEAT_NAMES)
        ]
        both = probability(outcome, lambda found: mean_of_seats(*found.versus_random))
        columns.append(Column(f"exact_{outcome}_vs_random", "the mean of the two", of(both), in_sweep=True))
    for seat, name in enumerate(SEAT_NAMES):
        columns += _lines_columns(of, seat, name)
    optimal = "share of all positions in which its action keeps the value of perfect play"
    error = "mean squared difference between its value of an afterstate and the perfect one (-1, 0, 1)"
    columns.append(Column("optimal_action_rate", optimal, of(lambda found: found.optimal_action_rate), in_sweep=True))
    columns.append(Column("value_error", error, of(lambda found: found.value_error), in_sweep=True, decimals=4))
    return tuple(columns)


def _lines_columns(
    of: Callable[[Callable[[Grade], Field]], Callable[[Row], Field]], seat: int, name: str
) -> tuple[Column[Row], Column[Row]]:
    lost = f"lines lost moving {name}, when the opponent tries every reply; 0 proves that it cannot lose in this seat"
    total = f"all these lines, moving {name}"
    return (
        Column(f"losing_lines_{name}", lost, of(lambda found: found.lines[seat].lost), int, True, in_sweep=True),
        Column(f"lines_{name}", total, of(lambda found: found.lines[seat].total), int, True, in_sweep=True),
    )


def endgame_columns(grade: Callable[[Row], EndgameGrade | None]) -> tuple[Column[Row], ...]:
    """The columns of a player's grade in the endgame positions."""

    of = partial(of_part, grade)
    optimal = "share of the endgame positions in which its action is a best one"
    loss = "points that its action gives away there, on average; empty if the game counts no points"
    return (
        Column("endgame_optimal_rate", optimal, of(lambda found: found.optimal), family=ENDGAMES, in_sweep=True),
        Column("endgame_mean_loss", loss, of(lambda found: found.mean_loss), family=ENDGAMES, in_sweep=True),
    )


def rating_columns(rating: Callable[[Row], Rating | None]) -> tuple[Column[Row], ...]:
    """The columns of the rating."""
    of = partial(of_part, rating)
    points = "Elo points by the model of Bradley and Terry, the random player at 0"
    ends = "95 % interval of the rating"
    return (
        Column("rating", points, of(lambda found: found.points), in_sweep=True, decimals=2),
        Column("rating_low", ends, of(lambda found: found.low), in_sweep=True, decimals=2),
        Column("rating_high", ends, of(lambda found: found.high), in_sweep=True, decimals=2),
    )


VERSUS_PREVIOUS: tuple[Column[LevelFacts], ...] = result_columns(
    lambda facts: facts.versus_previous, "_vs_previous", "the previous level"
)
VERSUS_RANDOM: tuple[Column[LevelFacts], ...] = result_columns(
    lambda facts: facts.versus_random, "_vs_random", "the random player", in_sweep=True
)
EXACT: tuple[Column[LevelFacts], ...] = grade_columns(lambda facts: facts.grade)
LATE: tuple[Column[LevelFacts], ...] = endgame_columns(lambda facts: facts.endgames)
QUALITY: tuple[Column[LevelFacts], ...] = judged_columns(lambda facts: facts.judged, in_sweep=True)
VERSUS_PERFECT: tuple[Column[LevelFacts], ...] = against_perfect_columns(lambda facts: facts.against_perfect)
RATING: tuple[Column[LevelFacts], ...] = rating_columns(lambda facts: facts.rating)

LEVEL_TABLE = f"a table of compared levels; {command_line('compare')} writes it again"
"""What error messages call levels.csv and references.csv, and how to replace them."""

LEVEL_COLUMNS: tuple[Column[LevelFacts], ...] = (
    Column("level", "the level; 0 is the random player", lambda facts: facts.level, int),
    *(*VERSUS_PREVIOUS, *VERSUS_RANDOM, *EXACT, *LATE, *QUALITY, *VERSUS_PERFECT, *RATING),
)
"""levels.csv; a game leaves out the columns of other families."""

SWEEP_COLUMNS = tuple(column for column in (*EXACT, *VERSUS_RANDOM, *LATE, *QUALITY, *RATING) if column.in_sweep)
"""The columns of levels.csv that sweep/runs.csv repeats, in its order."""

_MATCH_RESULTS: tuple[Column[PairFacts], ...] = result_columns(lambda pair: pair.result)
MATCH_COLUMNS: tuple[Column[PairFacts], ...] = (
    Column("level", "the player's level; empty for a reference", lambda pair: pair.level, int),
    Column("player", "the player's name, as for `selfplay tournament`", lambda pair: pair.player, str),
    Column("opponent", "the opponent's name", lambda pair: pair.opponent, str),
    *_MATCH_RESULTS,
)
"""matches.csv, a row per pair of players."""

_REFERENCE_RATING: tuple[Column[ReferenceFacts], ...] = rating_columns(lambda reference: reference.rating)
_REFERENCE_ENDGAMES: tuple[Column[ReferenceFacts], ...] = endgame_columns(lambda reference: reference.endgames)
_REFERENCE_QUALITY: tuple[Column[ReferenceFacts], ...] = judged_columns(lambda reference: reference.judged)
REFERENCE_COLUMNS: tuple[Column[ReferenceFacts], ...] = (
    Column("reference", "the name of the random player or of a reference", lambda reference: reference.name, str),
    *_REFERENCE_RATING,
    *_REFERENCE_ENDGAMES,
    *_REFERENCE_QUALITY,
)
"""references.csv, a row per reference, the random player first; a game leaves out the columns of other families."""
