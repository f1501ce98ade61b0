"""Wedges and the squares beside corners, counted by hand on drawn boards."""

import pytest

from tests.support.drawn_boards import features_of


@pytest.mark.parametrize(
    ("drawing", "patterns"),
    [
        # X plays d1 and turns b1 c1 and e1 f1 g1: one wedge. The corners are X's, so no square is dangerous.
        (
            """
            XOO-OOOX
            --------
            --------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            1,
        ),
        # X plays h3 and turns h2 and h4 to h7, down to h8. O turns nothing at d8 to the right, where e8 has no end.
        (
            """
            -------X
            -------O
            --------
            -------O
            -------O
            -------O
            -------O
            -XX-X-OX
            """,
            1 - 1,
        ),
        # X's b2 is an X-square, which counts twice, a7 and b8 are C-squares, as is O's b1; h8 beside g7 is held.
        (
            """
            -O-----X
            -X------
            --------
            ---OX---
            ---XO---
            --------
            X-----X-
            -X-----O
            """,
            -2 - 1 - 1 + 1,
        ),
    ],
)
def test_patterns_of_edges_and_corners(drawing, patterns):
    assert features_of(drawing)["patterns"] == patterns


@pytest.mark.parametrize(
    ("drawing", "x_squares", "c_squares"),
    [
        # X holds b2 and g2, O holds b7; a corner that is taken makes its neighbours harmless: g7 beside h8.
        (
            """
            --------
            -X----X-
            --------
            ---OX---
            ---XO---
            --------
            -O----X-
            -------O
            """,
            2 - 1,
            0,
        ),
    ],
)
def test_x_and_c_squares_count_beside_empty_corners(drawing, x_squares, c_squares):
    found = features_of(drawing)
    assert (found["x_squares"], found["c_squares"]) == (x_squares, c_squares)
    assert found["patterns"] == -2 * x_squares - c_squares  # none of these boards has a wedge


def test_six_squares_are_enough_for_a_wedge_and_four_are_not():
    assert features_of("XO-OOX" + " ------" * 5)["patterns"] == 1
    assert features_of("X-OX OXXO XOOX XXXX")["patterns"] == 0
