"""The report's sentences about matches against the random player, and its warning when levels do not improve."""

import pandas as pd
import pytest

from selfplay import compose_settings
from selfplay.grading.progress_text import progress_text

FEW = [(830, 19, 151), (717, 22, 261), (729, 39, 232), (766, 9, 225)]
"""recipe=article matches=2000, levels 1 to 4."""
ARTICLE = [(927, 18, 55), (891, 31, 78), (916, 34, 50), (949, 48, 3), (928, 72, 0)]
"""Some levels of recipe=article."""


def table_of(results) -> pd.DataFrame:
    columns = ["wins_vs_random", "draws_vs_random", "losses_vs_random"]
    rows = [(float("nan"),) * 3, *results]
    return pd.DataFrame([(level, *row) for level, row in enumerate(rows)], columns=["level", *columns])


def test_the_result_of_the_newest_level_is_one_sentence() -> None:
    text = progress_text(table_of(ARTICLE), compose_settings())
    assert text == (
        "In 1,000 matches against the random player, moving first in half of them, level 5 won 928, drew 72 and lost 0."
    )


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_levels_that_become_worse_are_reported_with_what_to_change(levels: int) -> None:
    _, *warning = progress_text(
        table_of(FEW[:levels]), compose_settings(["recipe=article", "matches=2000"])
    ).splitlines()
    expected = f"Levels are not improving: level {levels} won {FEW[levels - 1][0]} of these matches, level 1 won 830."
    assert warning[0].startswith(expected)
    assert [way.split(",")[0].strip() for way in warning[2:]] == [
        "matches=20000 (now 2000)",
        *("training.symmetries=true", "viewpoints=both", "dataset.replay=5"),
    ]


def test_a_fall_from_the_best_level_is_reported_even_if_level_1_was_worse() -> None:
    text = progress_text(table_of([(700, 0, 300), (960, 0, 40), (850, 0, 150)]), compose_settings())
    assert "training.symmetries" not in text, "it is the default"
    assert "level 3 won 850 of these matches, level 1 won 700 and level 2 won 960." in text


@pytest.mark.parametrize(
    "results",
    [
        FEW[:1],
        ARTICLE,
        [(940, 46, 14), (946, 54, 0)],
        [(990, 0, 10), (991, 0, 9)],
        [(600, 0, 400), (700, 0, 300)],
        [(0, 1000, 0), (0, 1000, 0)],
        # Chance alone makes the best of several levels look better than the newest.
        [(800, 0, 200), (950, 0, 50), (925, 0, 75)],
    ],
)
def test_levels_that_improve_or_cannot_improve_any_more_are_not_reported(results) -> None:
    assert "improving" not in progress_text(table_of(results), compose_settings())
