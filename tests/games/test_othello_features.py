"""The features of Othello positions, counted by hand on drawn boards: discs, corners, stability, mobility, parity."""

import pytest

from tests.support.drawn_boards import features_of

START = """
    --------
    --------
    --------
    ---OX---
    ---XO---
    --------
    --------
    --------
"""


def test_at_the_start_everything_is_equal_and_the_opponent_has_the_last_move():
    # One region of 60 squares.
    assert features_of(START) == {
        "discs": 0,
        "corners": 0,
        "stable": 0,
        "mobility": 0,
        "frontier": 0,
        "parity": -1,
        "patterns": 0,
        "x_squares": 0,
        "c_squares": 0,
    }


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        # Two discs in and beside a corner of one's own, against the bare corner of the opponent.
        (
            """
            XX-----O
            --------
            --------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            {"discs": 1, "corners": 0, "stable": 1},
        ),
        # After 1. d3 c3. X can play b3, c4, f5 and e6; O could play d2, e3, f4, c5 and d6.
        (
            """
            --------
            --------
            --OX----
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            {"discs": 0, "mobility": -1},
        ),
        # Of the nine only the one in the middle, X's, touches no empty square.
        (
            """
            --------
            --------
            --OOO---
            --XXO---
            --XOO---
            --------
            --------
            --------
            """,
            {"discs": -3, "frontier": -4},
        ),
    ],
)
def test_discs_corners_stable_mobility_and_frontier(drawing, expected):
    found = features_of(drawing)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("drawing", "stable"),
    [
        # a1 to c1, a2, a3, then b2: it leans on a2 in its row, on b1 in its column, on a1 and on c1 in its diagonals.
        # c2 would need b3 or d1.
        (
            """
            XXX-----
            XXX-----
            X-------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            6,
        ),
        # No corner is held, but rows 2 to 7, columns b to g and all diagonals but the two long ones are full.
        (
            """
            -XXXXXX-
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            -XXXXXX-
            """,
            36 - 12,
        ),
    ],
)
def test_stable_discs(drawing, stable):
    assert features_of(drawing)["stable"] == stable
