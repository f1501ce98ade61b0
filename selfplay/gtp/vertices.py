"""How the protocol writes colours and squares."""

import re

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.game import Game

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""The letter I is left out, as on boards of Go."""

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
"""The player that a colour stands for: black moves first."""

PASS = "PASS"
ROWS = ("top", "bottom")


def colour_of(player: int) -> str:
    """B for the player who moves first, else W."""
    return "BW"[player]


def title_of(game: Game) -> str:
    """What the protocol calls a game: its title, without the size of its board, which is told apart from it."""
    return re.sub(r"\s\d+x\d+$", "", game.presentation.title)


class Vertices:
    """The squares of a game's board, as the protocol writes them: A1, or PASS; upper and lower case are the same.

    Args:
        rows: where row 1 is: at the top as in Othello, or at the bottom as in Go.

    Raises:
        SettingError: the game's actions are not squares of a square board, or `rows` is neither.
    """

    def __init__(self, game: Game, rows: str = "top") -> None:
        if rows not in ROWS:
            raise SettingError(f"rows={rows}: give {' or '.join(ROWS)}")
        places = range(game.num_distinct_actions - (game.pass_action is not None))
        shape = game.board_shape
        is_square = shape is not None and shape[0] == shape[1] and len(places) == shape[0] * shape[1]
        if not is_square or any(list(game.presentation.pointed_squares(place)) != [place] for place in places):
            raise SettingError(f"game={game.name}: the Go Text Protocol needs actions that are squares of a board")
        self.size = 0 if shape is None else shape[0]
        self.pass_action, self.rows = game.pass_action, rows

    def text(self, action: int) -> str:
        """What the protocol calls an action."""
        if action == self.pass_action:
            return PASS
        row, column = divmod(action, self.size)
        return f"{COLUMNS[column]}{row + 1 if self.rows == 'top' else self.size - row}"

    def action(self, text: str) -> int:
        """The action that `text` names. Raises IllegalActionError if it names none."""
        name = text.upper()
        if name == PASS and self.pass_action is not None:
            return self.pass_action
        column, row = COLUMNS[: self.size].find(name[:1]), name[1:]
        if not name or column < 0 or not (row.isascii() and row.isdigit() and 1 <= int(row) <= self.size):
            raise IllegalActionError(f"{text!r} is no vertex of a board of {self.size}x{self.size}")
        return self.size * (int(row) - 1 if self.rows == "top" else self.size - int(row)) + column
