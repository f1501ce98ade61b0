"""What the page says of the lines that a comparison has counted."""

import pytest

from selfplay.grading.proof import Lines
from selfplay.web.proof import lines_verdict, proof_view


@pytest.mark.parametrize(
    ("lost", "said", "seats"),
    [
        ((2, 7), "Level 3 loses 2/90 lines moving first and 7/400 moving second: it can lose.", []),
        ((0, 7), "Level 3 cannot lose moving first: all 90 lines tried. Moving second it loses 7/400.", [0]),
        ((2, 0), "Level 3 cannot lose moving second: all 400 lines tried. Moving first it loses 2/90.", [1]),
        ((0, 0), "Level 3 loses 0/90 lines moving first and 0/400 moving second: it cannot lose.", [0, 1]),
    ],
)
def test_a_level_cannot_lose_in_a_seat_in_which_no_line_is_lost(
    lost: tuple[int, int], said: str, seats: list[int]
) -> None:
    lines = Lines(lost[0], 90), Lines(lost[1], 400)
    view = proof_view(lines, lines_verdict("Level 3", lines))
    assert (view.text, view.unbeatable_seats, view.is_unbeatable) == (said, seats, len(seats) == 2)
