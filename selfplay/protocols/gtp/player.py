"""A third-party engine as a player, over the Go Text Protocol."""

import logging
from collections.abc import Sequence

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.protocols.engine_player import EnginePlayer, advice, placed_in_turns
from selfplay.protocols.gtp.notation import Vertices, ask_gtp, colour_of, title_of
from selfplay.protocols.process import EngineProcess

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
            self._known = ask_gtp(engine, "list_commands", time_limit).split()
        with advice(f"it must play {self.game.presentation.title}"):
            for command in self._commands_at_start(self._known):
                ask_gtp(engine, command, time_limit)

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

    def ask_move(self, engine: EngineProcess) -> str:
        for command in self._commands_of_match():
            ask_gtp(engine, command, self.time_limit)
        vertex = ask_gtp(engine, f"genmove {colour_of(self.match.to_move)}", self.time_limit).strip()
        if vertex.lower() == "resign":
            self.resign()
        return vertex

    def read_move(self, text: str) -> int:
        return self._vertices.action(text)

    def _commands_of_match(self) -> list[str]:
        """The commands that tell what the engine does not know of the match: all of it, if it knows another one."""
        untold, moves = self.untold(), zip(self.match.states, self.match.actions, strict=False)
        new = list(moves)[len(self.match.actions) - len(untold) if untold is not None else 0 :]
        return [
            *(["clear_board", *self._commands_of_start()] if untold is None else []),
            *(
                self._play(int(state.current_player), action)
                for state, action in new
                if action != self.game.pass_action or self.passes == "send"
            ),
        ]

    def _play(self, seat: int, action: int) -> str:
        return f"play {colour_of(seat)} {self._vertices.text(action)}"

    def _commands_of_start(self) -> list[str]:
        """The commands that set up the position in which the match begins. Raises NotNowError if there are none."""
        match = self.match
        squares = self.game.squares(match.start)[0].tolist()
        stones = [(seat, square) for seat in (0, 1) for square, stone in enumerate(squares) if stone == 1 - 2 * seat]
        if not (match.is_set_up and stones):
            return []
        vertices = [self._vertices.text(square) for _, square in stones]
        if match.handicap and "set_free_handicap" in self._known:
            return [f"set_free_handicap {' '.join(vertices)}"]
        if {"gogui-setup", "gogui-setup_player"} <= {*self._known}:
            told = (f"{colour_of(seat)} {vertex}" for (seat, _), vertex in zip(stones, vertices, strict=True))
            return [f"gogui-setup {' '.join(told)}", f"gogui-setup_player {colour_of(int(match.start.current_player))}"]
        if self.game.komi is not None:
            # Stones of Go that all have liberties capture nothing, in whatever order they are placed.
            return [self._play(seat, square) for seat, square in stones]
        if (placed := placed_in_turns(match)) is None:
            self.refuse_start("it does not know the commands gogui-setup and gogui-setup_player")
        return [self._play(ply % 2, square) for ply, square in enumerate(placed.actions)]
