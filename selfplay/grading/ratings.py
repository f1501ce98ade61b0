"""Ratings of players on one scale, from the matches between them, and the measures by reference players.

matches.csv   a row per pair of players that met, in a game too large to enumerate
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from selfplay.games.win_draw_loss import NORMAL_QUANTILE, RESULTS, WORSE, WinDrawLoss, sign_test, wilson_interval
from selfplay.grading.compared_players import Compared, Who, name_of
from selfplay.grading.measures import Measure, Shown
from selfplay.matches.series import PairResult, result_columns, result_fields
from selfplay.players.player import policy_of
from selfplay.tables import COUNT, RATING, TEXT, Columns, Row

RATING_COLUMNS = {"rating": RATING, "rating_low": RATING, "rating_high": RATING}
"""The columns of `Rating.fields`."""
PLAYER_COLUMNS: Columns = {"player": TEXT, **RATING_COLUMNS, **dict.fromkeys(RESULTS, COUNT)}
"""The columns of tournament/players.csv; GRADE_COLUMNS follow in games that can be enumerated."""
MATCH_COLUMNS: Columns = {"level": COUNT, "player": TEXT, "opponent": TEXT, **result_columns()}
"""The columns of matches.csv."""

ELO_PER_LOGIT = 400 / math.log(10)
REGULARISATION = 0.01
"""Added to each rate of the Markov chain, so that the rating of a player who won every match stays finite. It has the
effect of this number times the sum of two weights (their mean is 1) as wins of either player of a pair."""
TOLERANCE = 1e-8
"""The mean change of a logarithm of strength at which ratings are final."""

Name = TypeVar("Name")


class Rating(NamedTuple):
    """Elo points relative to the first player, and their 95 % interval."""

    points: float
    low: float
    high: float

    def fields(self) -> Row:
        """The fields of RATING_COLUMNS."""
        return {"rating": self.points, "rating_low": self.low, "rating_high": self.high}


def rate(players: Sequence[Name], results: Iterable[tuple[tuple[Name, Name], WinDrawLoss[int]]]) -> dict[Name, Rating]:
    """The rating of each player from all matches, the first player at 0; a draw counts as half a win.

    `results`: pairs of players and their results, counted for the first of the pair. A pair may occur several times.
    """
    points = points_won(players, results)
    ratings = bradley_terry_ratings(points)
    half_widths = rating_half_widths(points, ratings)
    ends = zip(ratings, ratings - half_widths, ratings + half_widths, strict=True)
    return {player: Rating(*map(float, three)) for player, three in zip(players, ends, strict=True)}


def points_won(
    players: Sequence[Name], results: Iterable[tuple[tuple[Name, Name], WinDrawLoss[int]]]
) -> NDArray[np.float64]:
    """float64[P, P]: the points that each player won against each other, a draw half a point; 0 on the diagonal."""
    number = {player: place for place, player in enumerate(players)}
    points = np.zeros((len(players), len(players)))
    for (one, other), result in results:
        points[number[one], number[other]] += result.points
        points[number[other], number[one]] += result.reversed().points
    return points


def bradley_terry_ratings(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[P]: ratings in Elo points, player 0 at 0, that make the results most likely by the model of Bradley and
    Terry (1952), but for `REGULARISATION`.

    P(i beats j) = 1 / (1 + 10 ** ((rating[j] - rating[i]) / 400))

    They are found as the stationary distribution of a Markov chain that steps from losers to winners, repeated until it
    stays the same (Maystre & Grossglauser, "Fast and accurate inference of Plackett-Luce models", 2015).

    Args:
        wins: float64[P, P], `wins[i, j]` is how often i won against j; a draw counts as half a win for both.
    """
    weights, change = np.ones(len(wins)), 1.0
    while change > TOLERANCE:
        rates = REGULARISATION + wins.T / (weights[:, None] + weights[None, :])
        # In the stationary distribution as much flows into each player as out; its sum is the number of players.
        flows = rates.T - np.diag(rates.sum(axis=1))
        flows[-1] = 1
        stationary = np.linalg.solve(flows, np.append(np.zeros(len(wins) - 1), len(wins)))
        ratio = np.log(stationary / weights)
        weights, change = stationary, np.abs(ratio - ratio.mean()).mean()
    strengths = np.log(weights)
    ratings: NDArray[np.float64] = (strengths - strengths[0]) * ELO_PER_LOGIT
    return ratings


def rating_half_widths(wins: NDArray[np.float64], ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[P]: half the width of each rating's 95 % interval, in Elo points; 0 for player 0, the zero of the scale.

    The standard errors follow from the curvature of the likelihood: with n[i, j] matches between i and j, and p[i, j]
    the probability that i wins one, the information about the ratings is diag(w.sum(axis=1)) - w, w = n p (1 - p)
    (Hunter, "MM algorithms for generalized Bradley-Terry models", 2004). Counting draws as half wins makes the
    intervals too wide rather than too narrow.

    Args:
        wins: as in `bradley_terry_ratings`, which gives `ratings`.
    """
    strengths = ratings / ELO_PER_LOGIT
    matches = wins + wins.T + 2 * REGULARISATION
    np.fill_diagonal(matches, 0)
    chances = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    weights = matches * chances * (1 - chances)
    information = np.diag(weights.sum(axis=1)) - weights
    variances = np.diag(np.linalg.inv(information[1:, 1:]))
    half_widths: NDArray[np.float64] = np.append(0.0, NORMAL_QUANTILE * np.sqrt(variances)) * ELO_PER_LOGIT
    return half_widths


# ---------------------------------------------------------------------- the measures


class Ratings(Measure):
    """The ratings of all players, from all matches."""

    columns = RATING_COLUMNS
    shown = (Shown("rating", ["rating"], "{:.0f}".format, "rating: Elo"),)
    measures_references = True

    def __init__(self, compared: Compared) -> None:
        super().__init__(compared)
        whos: list[Who] = [*compared.levels, *compared.references]
        self.ratings = rate(whos, ((pair, result.evidence) for pair, result in compared.played))

    def fields(self, who: Who) -> Row:
        return self.ratings[who].fields()

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """In a game too large to enumerate, the rating of the newest level and the levels that it loses to."""
        compared, level, ratings = self.compared, self.compared.newest, self.ratings
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
