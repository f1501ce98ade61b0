"""The protocol of NBoard, version 2 (Welty), which its engines for Othello speak, such as Ntest and Edax."""

from selfplay.engines.process import EngineProcess
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.records import fitting_formats

VERSION = 2
GGF = "ggf"
"""The format of the matches in commands."""
CHOICE, PONG = "===", "pong"
"""The first words of the answers to `go` and `ping`. Other lines may come at any time and tell how it is getting on."""
PASS = "PA"


def require_othello(game: Game) -> None:
    """Raise SettingError if matches of the game cannot be told by this protocol."""
    if GGF not in fitting_formats(game):
        raise SettingError(f"game={game.name}: the NBoard protocol is for Othello")


def move_text(game: Game, action: int) -> str:
    """The text of an action in the protocol: F5, or PA for a pass."""
    return PASS if action == game.pass_action else game.action_to_string(action).upper()


def ask(engine: EngineProcess, command: str, word: str, time_limit: float) -> str:
    """Send a command and return what follows `word` on the line that begins with it.

    Raises EngineError as `EngineProcess.lines`.
    """
    lines = engine.lines(command, time_limit)
    return next(words[len(word) :].strip() for line in lines if (words := line.strip()).startswith(word))
