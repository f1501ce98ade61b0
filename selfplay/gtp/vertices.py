"""The notation of colours and squares in the protocol."""

import re

from selfplay.errors import IllegalActionError, SettingError, shortened
from selfplay.games.game import Game

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Without the letter I, as on Go boards."""

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
"""The player of each colour: black moves first."""

LONGEST_ROW = 9
"""The most digits of a row, which may begin with zeros."""

PASS = "PASS"
ROWS = ("top", "bottom")


def colour_of(player: int) -> str:
    """B for the player who moves first, else W."""
    return "BW"[player]


def title_of(game: Game) -> str:
    """The name of a game in the protocol: its title without the board size, for which there is another command."""
    return re.sub(r"\s\d+x\d+$", "", game.presentation.title)


class Vertices:
    """The squares of a board as the protocol writes them: A1, or PASS, in upper or lower case.

    Args:
        rows: the side of the board where row 1 is: "top" as in Othello, or "bottom" as in Go.

    Raises:
        SettingError: the actions of the game are not the squares of a square board, or `rows` is not one of these.
    """

    def __init__(self, game: Game, rows: str = "top") -> None:
        if rows not in ROWS:
            raise SettingError(f"rows={rows}: must be {' or '.join(ROWS)}")
        places = range(game.num_distinct_actions - (game.pass_action is not None))
        shape = game.board_shape
        is_square = shape is not None and shape[0] == shape[1] and len(places) == shape[0] * shape[1]
        if not is_square or any(list(game.presentation.pointed_squares(place)) != [place] for place in places):
            raise SettingError(f"game={game.name}: the Go Text Protocol needs actions that are squares of a board")
        self.size = 0 if shape is None else shape[0]
        self.pass_action, self.rows = game.pass_action, rows

    def text(self, action: int) -> str:
        """The text of an action in the protocol."""
        if action == self.pass_action:
            return PASS
        row, column = divmod(action, self.size)
        return f"{COLUMNS[column]}{row + 1 if self.rows == 'top' else self.size - row}"

    def action(self, text: str) -> int:
        """The action that `text` names. Raises IllegalActionError if it does not name one."""
        name = text.upper()
        if name == PASS and self.pass_action is not None:
            return self.pass_action
        column, row = COLUMNS[: self.size].find(name[:1]), name[1:]
        # Python refuses to convert numbers of more than 4,300 digits.
        is_number = row.isascii() and row.isdigit() and len(row) <= LONGEST_ROW
        if not name or column < 0 or not (is_number and 1 <= int(row) <= self.size):
            raise IllegalActionError(f"{shortened(text)!r} is not a vertex of a board of {self.size}x{self.size}")
        return self.size * (int(row) - 1 if self.rows == "top" else self.size - int(row)) + column
