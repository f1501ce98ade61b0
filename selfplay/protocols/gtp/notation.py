"""The Go Text Protocol, version 2 (Farnebäck, draft 2, 2002), for games on boards of squares.

Reading commands, writing and reading answers, and the notation of colours and squares.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from selfplay.errors import EngineError, IllegalActionError, SettingError, shortened
from selfplay.games.game import Game
from selfplay.protocols.commands import SIZE_LIMIT, CommandError, is_whole_number
from selfplay.protocols.process import EngineProcess

LONGEST_ID = 10
"""The most digits of an id, which has 31 bits."""

KEPT = "\t\n"
"""The control characters that are not removed from commands."""


class Command(NamedTuple):
    """A command line from the controller."""

    number: str
    """The id that the answer repeats; empty if there is none."""
    name: str
    """Empty if the line contains only an id."""
    arguments: tuple[str, ...]


class Answer(NamedTuple):
    """The answer of an engine."""

    is_success: bool
    text: str
    """The text, with several lines if it contains a board, none of them empty; the reason after a failure."""

    def written(self, number: str = "") -> str:
        """The answer as text: its status sign, the id of its command, the text and a final empty line."""
        lines = [line.rstrip() for line in self.text.split("\n") if line.strip()]
        # A board starts on a new line, so that its columns stay aligned.
        gap = "" if not lines else "\n" if len(lines) > 1 else " "
        return "".join(["=" if self.is_success else "?", number, gap, "\n".join(lines), "\n\n"])


def read_command(line: str) -> Command | None:
    """The command of a line; None if it has only comments and control characters.

    Raises ValueError if the line is longer than SIZE_LIMIT, or its id has more digits than 31 bits.
    """
    if len(line) > SIZE_LIMIT:
        raise ValueError("line too long")
    kept = "".join(sign for sign in line if sign in KEPT or (sign >= " " and sign != "\x7f"))
    words = kept.partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if words[0].isascii() and words[0].isdigit() else ""
    if len(number) > LONGEST_ID:
        raise ValueError("syntax error")
    return Command(number, words[0] if words else "", tuple(words[1:]))


def read_answer(lines: Iterable[str]) -> Answer:
    """The answer with these lines, without the final empty line. Raises ValueError if they are not an answer."""
    first, *others = lines
    sign, rest = first[:1], first[1:].lstrip("0123456789")
    if sign not in ("=", "?") or (rest and not rest[0].isspace()):
        raise ValueError(f"{shortened(first)!r} is not an answer of the protocol")
    return Answer(sign == "=", "\n".join([rest.strip(), *others]).strip("\n"))


def ask_gtp(engine: EngineProcess, command: str, time_limit: float) -> str:
    """Send a command and return the text of its answer.

    Raises EngineError if the engine answers with an error, which it survives; and as `EngineProcess.lines`, also if it
    writes something other than an answer.
    """
    lines: list[str] = []
    for line in engine.lines(command, time_limit):
        if line.strip():
            lines.append(line)
        elif lines:
            break
    try:
        answer = read_answer(lines)
    except ValueError as error:
        raise EngineError(str(error)) from error
    if not answer.is_success:
        raise EngineError(f"it answered {command!r} with the error {shortened(answer.text)!r}")
    return answer.text


# ---------------------------------------------------------------------- colours and squares

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Without the letter I, as on Go boards."""
COLUMNS_OF_HEX = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""As programs for Hex write them."""

COLOUR_NAMES = ("black", "white")
"""The colours of the player who moves first and of the other."""
COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
"""The player of each colour."""

PASS = "PASS"
ROWS = ("board", "top", "bottom")
"""The side of the board where row 1 is; board: where the board shows it."""


def seat_of(colour: str) -> int:
    """The seat of a colour. Raises CommandError if it is not a colour."""
    if colour.lower() not in COLOURS:
        raise CommandError("syntax error")
    return COLOURS[colour.lower()]


def colour_of(player: int) -> str:
    """B for the player who moves first, else W."""
    return "BW"[player]


def title_of(game: Game) -> str:
    """The name of a game in the protocol: its title without board and komi, for which there are other commands."""
    return re.sub(r"\s\d+x\d+(, komi [^,]*)?", "", game.presentation.title)


class Vertices:
    """The squares of a board as the protocol writes them: A1, or PASS, in upper or lower case.

    Args:
        rows: one of ROWS.

    Raises:
        SettingError: the actions of the game are not the squares of a square board, or `rows` is not one of these.
    """

    def __init__(self, game: Game, rows: str = "board") -> None:
        if rows not in ROWS:
            raise SettingError(f"rows={rows}: must be {' or '.join(ROWS)}")
        height, self.size = game.board_shape or (0, 0)
        places = range(height * self.size)
        others = game.num_distinct_actions - len(places)
        self.columns = COLUMNS_OF_HEX if game.presentation.is_rhombus else COLUMNS
        self.pass_action = game.any_pass
        self._game = game
        is_square = height == self.size > 0 and others in (0, 1)
        if not is_square or any(list(game.presentation.pointed_squares(place)) != [place] for place in places):
            raise SettingError(f"game={game.name}: the Go Text Protocol needs actions that are squares of a board")
        if self.size > len(self.columns):
            most = len(self.columns)
            raise SettingError(f"game={game.name}: the Go Text Protocol has letters for at most {most} columns")
        from_top = rows == "top" or (rows == "board" and [*game.presentation.row_names][-1:] != ["1"])
        self.rows = "top" if from_top else "bottom"

    def text(self, action: int) -> str:
        """The text of an action in the protocol."""
        if action == self.pass_action:
            return PASS
        if action == self.size**2:
            return self._game.action_to_string(action)
        row, column = divmod(action, self.size)
        return f"{self.columns[column]}{row + 1 if self.rows == 'top' else self.size - row}"

    def action(self, text: str) -> int:
        """The action that `text` names. Raises IllegalActionError if it does not name one."""
        name = text.upper()
        if name == PASS and self.pass_action is not None:
            return self.pass_action
        if self._game.is_action_text(text) and self._game.string_to_action(text) == self.size**2:
            return self.size**2
        column, row = self.columns[: self.size].find(name[:1]), name[1:]
        if not name or column < 0 or not (is_whole_number(row) and 1 <= int(row) <= self.size):
            raise IllegalActionError(f"{shortened(text)!r} is not a vertex of a board of {self.size}x{self.size}")
        return self.size * (int(row) - 1 if self.rows == "top" else self.size - int(row)) + column
