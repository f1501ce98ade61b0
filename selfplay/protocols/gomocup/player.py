"""A third-party engine for Gomoku as a player, over the protocol of the Gomocup tournament."""

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.protocols.engine_player import EnginePlayer, advice, placed_in_turns
from selfplay.protocols.gomocup.notation import Coordinates, ask_gomocup
from selfplay.protocols.process import EngineProcess


class GomocupPlayer(EnginePlayer):
    """Plays what an engine answers to `BEGIN`, `TURN` and `BOARD`.

    Args:
        command, time_limit: as for `EnginePlayer`.
        turn: seconds that the engine is told to take for each move.

    Raises as `EnginePlayer`, and SettingError if the game is not Gomoku.
    """

    protocol = "gomocup"
    farewell = "END"

    def __init__(self, game: Game, command: str, *, time_limit: float = 60.0, turn: float = 5.0) -> None:
        if not 0 <= turn <= time_limit:
            raise SettingError(f"gomocup:{command}: turn={turn:g}: must be seconds from 0 to time_limit={time_limit:g}")
        self.turn, self._coordinates = turn, Coordinates(game)
        super().__init__(game, command, time_limit)

    def greet(self, engine: EngineProcess, time_limit: float) -> None:
        size = self._coordinates.size
        with advice(f"it must speak the Gomocup protocol and play on {size}x{size} crossings"):
            self._begin(engine, time_limit)

    def _begin(self, engine: EngineProcess, time_limit: float) -> None:
        """Begin a match with an empty board: with START, because engines need not know RESTART."""
        ask_gomocup(engine, f"START {self._coordinates.size}", time_limit)
        for key, value in self._information().items():
            engine.send(f"INFO {key} {value}")
        self.told = Match(self.game)

    def _information(self) -> dict[str, int]:
        """What an engine is told at the beginning: times in milliseconds, where 0 is no limit of a match."""
        return {
            "timeout_turn": round(1000 * self.turn),
            "timeout_match": 0,
            "max_memory": 0,
            "rule": self._coordinates.rule,
        }

    def ask_move(self, engine: EngineProcess) -> str:
        untold = self.untold()
        if untold is None or (self.told is not None and self.told.actions and len(untold) != 1):
            self._begin(engine, self.time_limit)
            untold = self.untold()
        if untold is not None and len(untold) == 1:
            command = f"TURN {self._coordinates.text(untold[0])}"
        else:
            command = self._board() if untold is None or untold else "BEGIN"
        has_moved = self.told is not None and self.told.actions
        return ask_gomocup(engine, command, self.time_limit, 0 if has_moved else len(self._information()))

    def _board(self) -> str:
        """The command that gives the match so far: the engine's stones are 1, the opponent's 2."""
        if (start := placed_in_turns(self.match)) is None:
            self.refuse_start("its stones were not placed in turns")
        actions = (*start.actions, *self.match.actions)
        stones = [
            f"{self._coordinates.text(action)},{1 if (len(actions) - ply) % 2 == 0 else 2}"
            for ply, action in enumerate(actions)
        ]
        return "\n".join(["BOARD", *stones, "DONE"])

    def read_move(self, text: str) -> int:
        return self._coordinates.action(text)
