"""Sentences about the matches of levels against the random player: the newest result, and whether levels improve."""

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING

from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.grading.ratings import NORMAL_QUANTILE
from selfplay.settings.run import Settings

if TYPE_CHECKING:
    from pandas import DataFrame

SMALL_LOSS = 0.01
"""The largest share of lost matches at which the newest level need not be better than level 1."""
CLEARLY = 3.0
"""Standard errors between the newest level and the best of many earlier ones that are not chance."""


def progress_text(table: "DataFrame", settings: Settings) -> str:
    """The result of the newest level against the random player; if levels do not improve, that and what to change.

    Args:
        table: comparison/levels.csv, columns level, wins_vs_random, draws_vs_random, losses_vs_random, rating, and
            exact_loss_vs_random, which is empty if the game is too large to enumerate.
        settings: those that the levels were trained with.
    """
    results = _results(table)
    newest = max(results)
    text = (
        f"In {results[newest].matches:,} matches against the random player, moving first in half of them, "
        f"level {newest} won {results[newest].wins}, drew {results[newest].draws} and lost {results[newest].losses}."
    )
    warning = [] if _is_best_level(table) else _warning(results, newest, settings)
    return "\n".join([text, *warning])


def _is_best_level(table: "DataFrame") -> bool:
    """Whether the newest level has the highest rating, or the smallest exact share of lost matches, of all levels."""
    measures = [table["rating"], -table["exact_loss_vs_random"].astype(float)]
    return any(bool(measure.iloc[-1] > measure.iloc[1:-1].max()) for measure in measures)


def _results(table: "DataFrame") -> dict[int, WinDrawLoss[int]]:
    """The results against the random player by level."""
    columns = [f"{result}_vs_random" for result in ("wins", "draws", "losses")]
    played = table[table[columns[0]].notna()]
    return {
        int(level): WinDrawLoss(*map(int, counts))
        for level, *counts in played[["level", *columns]].itertuples(index=False)
    }


def _warning(results: Mapping[int, WinDrawLoss[int]], newest: int, settings: Settings) -> list[str]:
    """What is wrong and what to change, if the newest level is not better than level 1 or worse than the best one."""
    first, best = min(results), max(results, key=lambda level: results[level].score)
    is_better = newest == first or standard_errors(results[newest], results[first]) > NORMAL_QUANTILE
    is_worse = standard_errors(results[newest], results[best]) < -CLEARLY
    if results[newest].rates.losses <= SMALL_LOSS or (is_better and not is_worse):
        return []
    others = sorted({first, best} - {newest})
    earlier = " and ".join(f"level {level} won {results[level].wins}" for level in others)
    return [
        f"Levels are not improving: level {newest} won {results[newest].wins} of these matches, {earlier}.",
        "Probably each level is trained on too few matches; with another run_dir, try",
        *(f"  {way}" for way in _ways_to_learn_more(settings)),
    ]


def _ways_to_learn_more(settings: Settings) -> list[str]:
    """Settings that give a level more to learn from, with what each of them does."""
    ways = [f"matches={10 * settings.matches} (now {settings.matches})"]
    if not settings.training.symmetries:
        ways.append("training.symmetries=true, to train on every symmetric image of a position")
    if settings.viewpoints == "agent":
        ways.append("viewpoints=both, to train on the moves of both players")
    if settings.dataset.replay == 0:
        ways.append("dataset.replay=5, to train on the matches of earlier levels too")
    return ways


def standard_errors(one: WinDrawLoss[int], other: WinDrawLoss[int]) -> float:
    """How much better `one` did, in standard errors of the difference of the means of wins minus losses."""
    means = [results.rates.wins - results.rates.losses for results in (one, other)]
    variance = sum(
        (results.rates.wins + results.rates.losses - mean**2) / results.matches
        for results, mean in zip((one, other), means, strict=True)
    )
    return 0.0 if variance <= 0 else (means[0] - means[1]) / sqrt(variance)
