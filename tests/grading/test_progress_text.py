"""The report's sentences about matches against the random player, and its warning when levels do not improve."""

from pathlib import Path

import pandas as pd
import pytest

from selfplay import compose_settings
from selfplay.grading.measures import progress_text
from selfplay.stages.measure_levels import ways_to_learn_more

ADVICE = ways_to_learn_more(compose_settings())
DATA = Path(__file__).parents[1] / "data"

ARTICLE = pd.read_csv(DATA / "levels_article.csv")
"""recipe=article."""
FEW = pd.read_csv(DATA / "levels_article_2000_matches.csv")
"""recipe=article matches=2000, whose levels become worse from level 3 on."""


def table_of(results) -> pd.DataFrame:
    """Levels whose ratings fall, with these results against the random player."""
    columns = ["wins_vs_random", "draws_vs_random", "losses_vs_random"]
    rows = [(float("nan"),) * 3, *results]
    return pd.DataFrame(
        [(level, *row, -level, None) for level, row in enumerate(rows)],
        columns=["level", *columns, "rating", "exact_loss_vs_random"],
    )


def test_the_result_of_the_newest_level_is_one_sentence() -> None:
    text = progress_text(ARTICLE, ADVICE)
    assert text == (
        "In 1,000 matches against the random player, moving first in half of them, "
        "level 17 won 928, drew 72 and lost 0."
    )


@pytest.mark.parametrize("levels", [3, 6])
def test_levels_that_become_worse_are_reported_with_what_to_change(levels: int) -> None:
    _, *warning = progress_text(
        FEW[: levels + 1], ways_to_learn_more(compose_settings(["recipe=article", "matches=2000"]))
    ).splitlines()
    won = FEW.wins_vs_random[levels]
    expected = f"Levels are not improving: level {levels} won {won:.0f} of these matches, level 1 won 830."
    assert warning[0].startswith(expected)
    assert [way.split(",")[0].strip() for way in warning[2:]] == [
        "matches=20000 (now 2000)",
        *("learner.symmetries=true", "learner.replay=5", "learner.viewpoints=both"),
    ]


@pytest.mark.parametrize(
    "results",
    [
        [(830, 19, 151)],
        [(600, 0, 400), (700, 0, 300)],
        [(0, 1000, 0), (0, 1000, 0)],
        # Chance alone makes the best of several levels look better than the newest.
        [(800, 0, 200), (950, 0, 50), (925, 0, 75)],
    ],
)
def test_levels_that_improve_or_cannot_improve_any_more_are_not_reported(results) -> None:
    assert "improving" not in progress_text(table_of(results), ADVICE)


@pytest.mark.parametrize("levels", [2, 17])
def test_no_level_of_the_article_is_reported_because_each_improves_by_some_measure(levels: int) -> None:
    assert "improving" not in progress_text(ARTICLE[: levels + 1], ADVICE)
