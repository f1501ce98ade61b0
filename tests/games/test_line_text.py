"""A line of play as text."""

from selfplay.games import make_game
from selfplay.games.line_text import draw_line


def test_a_line_is_drawn_with_its_boards_side_by_side() -> None:
    assert draw_line(make_game("tictactoe"), (4, 0, 2)).splitlines() == [
        "1. 1,1    2. 0,0    3. 0,2",
        ". . .     O . .     O . X",
        ". X .     . X .     . X .",
        ". . .     . . .     . . .",
    ]
