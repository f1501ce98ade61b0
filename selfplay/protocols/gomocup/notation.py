"""The protocol of the Gomocup tournament (Laštovička, "Gomoku AI protocol"), which Piskvork and its engines speak."""

from selfplay.errors import EngineError, IllegalActionError, SettingError, shortened
from selfplay.games.game import Game
from selfplay.protocols.commands import is_whole_number
from selfplay.protocols.process import EngineProcess

FIVE = 5
REMARKS = ("MESSAGE", "DEBUG")
"""The first words of lines that an engine may write at any time, which answer nothing."""
UNKNOWN = "UNKNOWN"
FAULTS = ("ERROR", UNKNOWN)
"""The first words of the answer to a command that failed, or that the engine does not know."""
FREE_STYLE, EXACTLY_FIVE = 0, 1
"""The rules: five or more in a line win, or exactly five do."""


def ask_gomocup(engine: EngineProcess, command: str, time_limit: float, informed: int = 0) -> str:
    """Send a command and return the answer. Raises EngineError if it is a fault, and as `EngineProcess.lines`.

    `informed`: the number of INFO lines before the command. They are not answered, but some engines write UNKNOWN.
    """
    lines = engine.lines(command, time_limit)
    answers = (line.strip() for line in lines if line.strip() and _first_word(line) not in REMARKS)
    while _first_word(answer := next(answers)) == UNKNOWN and informed:
        informed -= 1
    if _first_word(answer) in FAULTS:
        name = command.partition("\n")[0]
        raise EngineError(f"it answered {name!r} with {shortened(answer)!r}")
    return answer


def _first_word(line: str) -> str:
    return (line.split() or [""])[0].upper()


class Coordinates:
    """The crossings of a board as the protocol writes them: `column,row`, both from 0 at the top left.

    Raises SettingError if the game is not about five in a line on a square board.
    """

    def __init__(self, game: Game) -> None:
        self.size, columns = game.board_shape or (0, 0)
        if game.presentation.line_length != FIVE or self.size != columns:
            raise SettingError(f"game={game.name}: the Gomocup protocol is for Gomoku on square boards")
        self.rule = EXACTLY_FIVE if game.presentation.line_is_exact else FREE_STYLE

    def text(self, action: int) -> str:
        """The text of an action in the protocol."""
        row, column = divmod(action, self.size)
        return f"{column},{row}"

    def action(self, text: str) -> int:
        """The action that `text` names. Raises IllegalActionError if it does not name one."""
        column, comma, row = text.replace(" ", "").partition(",")
        if not comma or not all(is_whole_number(number) and int(number) < self.size for number in (column, row)):
            raise IllegalActionError(f"{shortened(text)!r} is not a crossing of a board of {self.size}x{self.size}")
        return self.size * int(row) + int(column)
