"""A third-party engine for Othello as a player, over the protocol of NBoard."""

import re

from selfplay.engines.nboard import CHOICE, GGF, PONG, VERSION, ask, require_othello
from selfplay.engines.process import EngineProcess
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.engine import EnginePlayer, advice
from selfplay.records import Record, written_record


class NBoardPlayer(EnginePlayer):
    """Plays what an engine answers to `go`, and sends the whole match before.

    Args:
        command, time_limit: as for `EnginePlayer`.
        depth: the plies that the engine is told to look ahead in the middle of a match.

    Raises as `EnginePlayer`, and SettingError if the game is not Othello.
    """

    protocol = "nboard"

    def __init__(self, game: Game, command: str, *, time_limit: float = 60.0, depth: int = 8) -> None:
        if depth < 1:
            raise SettingError(f"nboard:{command}: depth={depth}: must be at least 1")
        require_othello(game)
        self.depth = depth
        super().__init__(game, command, time_limit)

    def greet(self, engine: EngineProcess, time_limit: float) -> None:
        with advice("run the command by itself; it must speak the NBoard protocol"):
            ask(engine, f"nboard {VERSION}\nset depth {self.depth}\nping 1", f"{PONG} 1", time_limit)

    def ask_move(self, engine: EngineProcess, state: State) -> str:
        engine.send(f"set game {written_record(Record(self.game, self.match), GGF).text.strip()}")
        # Engines write "F5/1.20/0.3" or "F5 1.20 0.3": the move, its value and the time.
        return re.split(r"[\s/]", ask(engine, "go", CHOICE, self.time_limit))[0]

    def read_move(self, text: str) -> int:
        return self.game.string_to_action(text)
