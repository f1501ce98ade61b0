"""What a measure is, and measures by matches: whether levels improve, and how they play against perfect play.

`selfplay.grading.comparison.MEASURES` lists the measures of a comparison.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from math import sqrt
from typing import ClassVar, NamedTuple, Self

import pandas as pd

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.game import SEATS
from selfplay.games.win_draw_loss import BETTER, NORMAL_QUANTILE, RESULTS, UNDECIDED, WORSE, WinDrawLoss
from selfplay.grading.compared_players import Compared, Pair, Who, scheduled_matches
from selfplay.matches.series import Series, result_columns, result_fields
from selfplay.players.perfect import SolverPlayer, whole_game_solver_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import ExactSolver
from selfplay.tables import COUNT, Columns, Row


class Shown(NamedTuple):
    """A column of the table on the screen."""

    title: str
    columns: Sequence[str]
    """The columns of levels.csv that it shows; where one is empty, nothing is shown."""
    text: Callable[..., str]
    """From the fields of these columns."""
    meaning: str = ""
    """For the legend."""


class Panel(NamedTuple):
    """A curve by level, to be drawn in a panel of a figure. Its axis starts at 0."""

    title: str
    y_label: str
    levels: Sequence[int]
    numbers: Sequence[float]
    top: float | None = None
    """The upper end of the axis; None: a tenth above the largest number."""


class Measure:
    """A measure of how well levels play: its columns, its sentences in the report, and what is drawn.

    `Measure(compared)` measures. A method that a measure does not override adds nothing to the comparison.
    """

    columns: ClassVar[Columns] = {}
    """Its columns of comparison/levels.csv."""
    shown: ClassVar[Sequence[Shown]] = ()
    """Its columns of the table on the screen."""
    measures_references: ClassVar[bool] = False
    """Whether references have its columns too, in comparison/references.csv."""

    def __init__(self, compared: Compared) -> None:
        self.compared = compared

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        """The measure of these levels; None if it does not suit the game or the parameters."""
        return cls(compared)

    @classmethod
    def of_new_level(cls, compared: Compared) -> Row | None:
        """Its fields of the newest level; None if it needs the other levels or does not suit the game.

        Only this level need be among the players.
        """
        return None

    def fields(self, who: Who) -> Row:
        """The fields of a level or a reference, by column."""
        return {}

    def tables(self) -> dict[str, tuple[Columns, Sequence[Row]]]:
        """The tables of its own, by file name: their columns and rows."""
        return {}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """Its lines of the report. `table`: comparison/levels.csv."""
        return []

    def panels(self) -> dict[str, list[Panel]]:
        """Its figures, by file name. `selfplay.figures.comparison` draws them, unless it has others for this class."""
        return {}


# ---------------------------------------------------------------------- whether levels improve

SIGNS = {BETTER: "+", WORSE: "-", UNDECIDED: "="}


class LevelMatches(Measure):
    """The matches of each level against the level before it and the random player."""

    columns: ClassVar[Columns] = result_columns("_vs_previous") | result_columns("_vs_random")
    shown = (
        Shown("v previous", [f"{result}_vs_previous" for result in RESULTS], "{}-{}-{}".format),
        Shown("+", ["word_vs_previous"], SIGNS.__getitem__),
        Shown("v random", [f"{result}_vs_random" for result in RESULTS], "{}-{}-{}".format),
    )

    def fields(self, who: Who) -> Row:
        if who not in self.compared.versus_previous:
            return {}
        previous, versus_random = self.compared.versus_previous[who], self.compared.results[who, 0]
        return result_fields(previous, "_vs_previous") | result_fields(versus_random, "_vs_random")


class Improvement(Measure):
    """Whether levels improve, by the matches against the random player and the level before."""

    @classmethod
    def of_new_level(cls, compared: Compared) -> Row:
        level, parameters = compared.newest, compared.parameters
        pairs: list[Pair] = [(level, level - 1), (level, 0)]
        matches = dict.fromkeys(pairs, parameters.earlier_matches)
        played = dict(zip(matches, compared.play(scheduled_matches(matches, parameters, compared.seed)), strict=True))
        previous, versus_random = (played[pair] for pair in pairs)
        return result_fields(previous, "_vs_previous") | result_fields(versus_random, "_vs_random")

    def sentences(self, table: pd.DataFrame) -> list[str]:
        return [*self.compared.notes, progress_text(table, self.compared.advice)]

    def evidence(self) -> dict[int, WinDrawLoss[int]]:
        """The results of each trained level against the level before it, without copies."""
        return {level: result.evidence for level, result in self.compared.versus_previous.items()}


SMALL_LOSS = 0.01
"""The largest share of lost matches at which the newest level need not be better than level 1."""
CLEARLY = 3.0
"""The difference between the newest level and the best of many earlier ones, in standard errors, that is not chance."""


def progress_text(table: pd.DataFrame, advice: Sequence[str] = ()) -> str:
    """The result of the newest level against the random player; if levels do not improve, that and what to change.

    Args:
        table: comparison/levels.csv.
        advice: lines about what to change.
    """
    results = _results(table)
    newest = max(results)
    text = (
        f"In {results[newest].matches:,} matches against the random player, moving first in half of them, "
        f"level {newest} won {results[newest].wins}, drew {results[newest].draws} and lost {results[newest].losses}."
    )
    warning = [] if _is_best_level(table) else _warning(results, newest, advice)
    return "\n".join([text, *warning])


def _is_best_level(table: pd.DataFrame) -> bool:
    """Whether the newest level has the highest rating, or the smallest exact share of lost matches, of all levels."""
    measures = [table["rating"], -table["exact_loss_vs_random"].astype(float)]
    return any(bool(measure.iloc[-1] > measure.iloc[1:-1].max()) for measure in measures)


def _results(table: pd.DataFrame) -> dict[int, WinDrawLoss[int]]:
    played = table.dropna(subset="wins_vs_random").set_index("level")
    counts = played[[f"{result}_vs_random" for result in RESULTS]].astype(int)
    return {level: WinDrawLoss(*row) for level, *row in counts.itertuples()}


def _warning(results: Mapping[int, WinDrawLoss[int]], newest: int, advice: Sequence[str]) -> list[str]:
    """The problem and what to change, if the newest level is not better than level 1, or is worse than the best one."""
    first, best = min(results), max(results, key=lambda level: results[level].score)
    is_better = newest == first or standard_errors(results[newest], results[first]) > NORMAL_QUANTILE
    is_worse = standard_errors(results[newest], results[best]) < -CLEARLY
    if results[newest].rates.losses <= SMALL_LOSS or (is_better and not is_worse):
        return []
    others = sorted({first, best} - {newest})
    earlier = " and ".join(f"level {level} won {results[level].wins}" for level in others)
    return [
        f"Levels are not improving: level {newest} won {results[newest].wins} of these matches, {earlier}.",
        *advice,
    ]


def standard_errors(one: WinDrawLoss[int], other: WinDrawLoss[int]) -> float:
    """How much better `one` did, in standard errors of the difference of the means of wins minus losses."""
    means = [results.rates.wins - results.rates.losses for results in (one, other)]
    variance = sum(
        (results.rates.wins + results.rates.losses - mean**2) / results.matches
        for results, mean in zip((one, other), means, strict=True)
    )
    return 0.0 if variance <= 0 else (means[0] - means[1]) / sqrt(variance)


# ---------------------------------------------------------------------- perfect play

SeatResults = tuple[WinDrawLoss[int], WinDrawLoss[int]]
"""A player's results against perfect play, moving first and second."""


def play_against_perfect(
    perfect: SolverPlayer[ExactSolver],
    players: Mapping[Who, Player],
    series: Series,
    progress: ProgressBar = NoProgress,
) -> dict[Who, SeatResults]:
    """The results of each player in the series in each seat."""
    results: dict[Who, SeatResults] = {}
    with closing(progress(total=2 * len(players), desc="against perfect play")) as bar:
        for who, player in players.items():
            first = series.play(perfect.game, (player, perfect))
            bar.update(1)
            second = series.play(perfect.game, (perfect, player))
            bar.update(1)
            results[who] = first.results, second.results.reversed()
    return results


RESULT_TEXTS = {1: "a win", 0: "a draw", -1: "a loss"}


class PerfectPlay(Measure):
    """Matches of some levels against perfect play, where an exact solver solves matches from their start."""

    columns: ClassVar[Columns] = {f"{result}_vs_perfect_{seat}": COUNT for seat in SEATS for result in RESULTS}

    def __init__(self, compared: Compared, perfect: SolverPlayer[ExactSolver]) -> None:
        super().__init__(compared)
        matches, key = compared.parameters.perfect_matches, stream_key(compared.seed, 0, Activity.VERSUS_PERFECT)
        players: dict[Who, Player] = {level: compared.players[level] for level in compared.spaced if matches}
        series = Series(range(matches), key, alternate=False, batch_size=compared.batch_size)
        self.results = play_against_perfect(perfect, players, series, compared.progress)
        self.start_value = perfect.solver.value(compared.game.init()) if matches else None

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        perfect = whole_game_solver_player(compared.game)
        return None if perfect is None else cls(compared, perfect)

    def fields(self, who: Who) -> Row:
        results = self.results.get(who)
        fields: Row = dict.fromkeys(self.columns)
        for seat, counts in zip(SEATS, results or (), strict=False):
            fields |= {f"{result}_vs_perfect_{seat}": count for result, count in counts._asdict().items()}
        return fields

    def sentences(self, table: pd.DataFrame) -> list[str]:
        level = self.compared.newest
        if self.start_value is None or level not in self.results:
            return []
        return perfect_text(level, self.results[level], self.start_value)


def perfect_text(level: int, results: SeatResults, start_value: int) -> list[str]:
    """The results of a level. `start_value`: the exact value of the start of a match to the player who moves first."""
    outcome = (start_value > 0) - (start_value < 0)
    lines = [f"Against perfect play, from the initial position, level {level}"]
    for seat, counted, best in zip(SEATS, results, (outcome, -outcome), strict=True):
        counts = f"won {counted.wins}, drew {counted.draws} and lost {counted.losses} of {counted.matches} matches"
        lines.append(f"  moving {seat} {counts} (best possible: {RESULT_TEXTS[best]})")
    return lines
