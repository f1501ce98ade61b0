"""Measures by matches: against reference players and perfect play, ratings, and whether levels improve.

matches.csv   a row per pair of players that met, in a game too large to enumerate
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from math import sqrt
from typing import Self

import pandas as pd

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.game import SEATS
from selfplay.games.win_draw_loss import NORMAL_QUANTILE, WORSE, WinDrawLoss, sign_test, wilson_interval
from selfplay.grading.measures import Compared, Measure, Shown, name_of
from selfplay.grading.schedule import Pair, Who, scheduled_matches
from selfplay.grading.tables import (
    MATCH_COLUMNS,
    PERFECT_COLUMNS,
    RATING_COLUMNS,
    RESULTS,
    Columns,
    Row,
    result_fields,
)
from selfplay.matches.series import PairResult, count_matches
from selfplay.players.perfect import SolverPlayer, whole_game_solver_player
from selfplay.players.player import Player, policy_of
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import ExactSolver


class ReferencePlayers(Measure):
    """The newest level's matches against the random player and the references, in a game too large to enumerate."""

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        return None if compared.grader is not None else cls(compared)

    def tables(self) -> dict[str, tuple[Columns, Sequence[Row]]]:
        rows: list[Row] = [
            {
                "level": one if isinstance(one, int) else None,
                "player": name_of(one),
                "opponent": name_of(other),
                **result_fields(result),
            }
            for (one, other), result in self.compared.results.items()
        ]
        return {"matches.csv": (MATCH_COLUMNS, rows)}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        compared = self.compared
        name, level, plies = compared.game.name, compared.newest, compared.parameters.opening_plies
        start = f"random openings of {plies} plies" if plies else "the initial position"
        opponents: list[Who] = [0, *compared.references]
        return [
            f"{name} has too many positions to try every line, so level {level} is measured, not proved.",
            f"Starting from {start}, with each player first once, level {level}",
            *(f"  won {_won_text(name_of(who), compared.results[level, who])}" for who in opponents),
        ]


def _won_text(opponent: str, result: PairResult) -> str:
    wins, matches = result.results.wins, result.results.matches
    low, high = wilson_interval(result.evidence.wins, result.evidence.matches)
    share = f"{wins / matches:.3f} ({low:.3f}..{high:.3f})"
    return f"{share} of {matches} matches against {opponent}, {result.distinct} of them different"


# ---------------------------------------------------------------------- perfect play

SeatResults = tuple[WinDrawLoss[int], WinDrawLoss[int]]
"""A player's results against perfect play, moving first and second."""


def play_against_perfect(
    perfect: SolverPlayer[ExactSolver],
    players: Mapping[Who, Player],
    matches: int,
    key: int,
    batch_size: int | None,
    progress: ProgressBar = NoProgress,
) -> dict[Who, SeatResults]:
    """The results of each player in `matches` matches in each seat. The players do not learn from them."""
    results: dict[Who, SeatResults] = {}
    with closing(progress(total=2 * len(players), desc="against perfect play")) as bar:
        for who, player in players.items():
            first = count_matches(perfect.game, (player, perfect), matches, key, batch_size, alternate=False)
            bar.update(1)
            second = count_matches(perfect.game, (perfect, player), matches, key, batch_size, alternate=False)
            bar.update(1)
            results[who] = first.results, second.results.reversed()
    return results


RESULT_TEXTS = {1: "a win", 0: "a draw", -1: "a loss"}


class PerfectPlay(Measure):
    """Matches of some levels against perfect play, where an exact solver solves matches from their start."""

    columns = PERFECT_COLUMNS

    def __init__(self, compared: Compared, perfect: SolverPlayer[ExactSolver]) -> None:
        super().__init__(compared)
        matches, key = compared.parameters.perfect_matches, stream_key(compared.seed, 0, Activity.VERSUS_PERFECT)
        players: dict[Who, Player] = {level: compared.players[level] for level in compared.spaced if matches}
        self.results = play_against_perfect(perfect, players, matches, key, compared.batch_size, compared.progress)
        self.start_value = perfect.solver.value(compared.game.init()) if matches else None

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        perfect = whole_game_solver_player(compared.game)
        return None if perfect is None else cls(compared, perfect)

    def fields(self, who: Who) -> Row:
        results = self.results.get(who)
        fields: Row = dict.fromkeys(PERFECT_COLUMNS)
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


# ---------------------------------------------------------------------- ratings


class Ratings(Measure):
    """The ratings of all players, from all matches."""

    columns = RATING_COLUMNS
    shown = (Shown("rating", ["rating"], "{:.0f}".format, "rating: Elo"),)

    def fields(self, who: Who) -> Row:
        return self.compared.ratings[who].fields()

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """In a game too large to enumerate, the rating of the newest level and the levels that it loses to."""
        compared, level, ratings = self.compared, self.compared.newest, self.compared.ratings
        if compared.grader is not None:
            return []
        points, low, high = ratings[level]
        best = max(compared.references, key=lambda name: ratings[name].points, default=None)
        rating = f"Level {level} has a rating of {points:.0f} ({low:.0f}..{high:.0f}); the random player has 0"
        action = int(policy_of(compared.players[level], compared.game.init())[0].argmax())
        return [
            f"{rating}." if best is None else f"{rating}\nand {best} has {ratings[best].points:.0f}.",
            f"It opens with {compared.game.presentation.action_in_words(action)}.",
            *self._forgotten_text(level),
        ]

    def _forgotten_text(self, level: int) -> list[str]:
        """The earlier levels to which the newest level loses by the sign test, one per line, or that there are none."""
        results = self.compared.results.items()
        met = {other: result for (one, other), result in results if one == level and isinstance(other, int)}
        lost = {earlier: met[earlier].results for earlier in sorted(met) if sign_test(met[earlier].evidence) == WORSE}
        if not lost:
            tried = ", ".join(map(str, sorted(met)))
            return [f"Level {level} loses to none of the earlier levels it was tried against: {tried}."]
        return [f"Level {level} now loses to level {other}: {won} (won-drawn-lost)." for other, won in lost.items()]


# ---------------------------------------------------------------------- improvement


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
        """The results of each trained level against the level before it, without copies; none in small games."""
        if self.compared.grader is not None:
            return {}
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
