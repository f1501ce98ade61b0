"""A third-party engine as a player, over the Go Text Protocol."""

import logging
from collections.abc import Sequence

from selfplay.engines.gtp import Vertices, ask, colour_of, title_of
from selfplay.engines.process import EngineProcess
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.engine import EnginePlayer, advice

log = logging.getLogger(__name__)

PASSES = ("skip", "send")


class GtpPlayer(EnginePlayer):
    """Plays what an engine answers to `genmove`, and sends each ply once.

    Args:
        command, time_limit: as for `EnginePlayer`.
        rows: the side of the board where the engine has row 1, as for `Vertices`.
        passes: "send" to send passes to the engine, or "skip" for an engine that rejects them because it passes for a
            player without another move, as gtp-rhino does.

    Raises as `EnginePlayer`, and SettingError if the protocol does not fit the game.
    """

    protocol = "gtp"

    def __init__(
        self, game: Game, command: str, *, time_limit: float = 60.0, rows: str = "board", passes: str = "skip"
    ) -> None:
        if passes not in PASSES:
            raise SettingError(f"gtp:{command}: passes={passes}: must be {' or '.join(PASSES)}")
        self.passes, self._vertices = passes, Vertices(game, rows)
        super().__init__(game, command, time_limit)

    def greet(self, engine: EngineProcess, time_limit: float) -> None:
        with advice("run the command by itself; it must speak GTP"):
            known = ask(engine, "list_commands", time_limit).split()
        with advice(f"it must play {self.game.presentation.title}"):
            for command in self._commands_at_start(known):
                ask(engine, command, time_limit)

    def _commands_at_start(self, known: Sequence[str]) -> list[str]:
        """The commands that choose game, board and komi, of those that the engine knows."""
        wanted = {"boardsize": f"{self._vertices.size}"}
        if "list_games" in known:
            wanted = {"set_game": title_of(self.game), **wanted}
        if self.game.komi is not None:
            wanted["komi"] = f"{self.game.komi:g}"
            if "komi" not in known:
                log.info("%s has no command komi; it may count with another komi than %s", self.name, wanted["komi"])
        return [f"{name} {value}" for name, value in wanted.items() if name in known]

    def ask_move(self, engine: EngineProcess, state: State) -> str:
        self._tell_match(engine)
        vertex = ask(engine, f"genmove {colour_of(int(state.current_player))}", self.time_limit).strip()
        if vertex.lower() == "resign":
            self.resign()
        return vertex

    def read_move(self, text: str) -> int:
        return self._vertices.action(text)

    def _tell_match(self, engine: EngineProcess) -> None:
        """Send the plies that the engine does not know yet, or all plies if it knows another match."""
        untold = self.untold()
        if untold is None:
            ask(engine, "clear_board", self.time_limit)
        first_untold = len(self.match) - len(self.match if untold is None else untold)
        for action, state in list(zip(self.match, self.states, strict=False))[first_untold:]:
            if action != self.game.pass_action or self.passes == "send":
                colour = colour_of(int(state.current_player))
                ask(engine, f"play {colour} {self._vertices.text(action)}", self.time_limit)
