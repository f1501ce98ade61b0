"""A third-party engine as a player, over the Go Text Protocol."""

import logging
from collections.abc import Sequence
from typing import NoReturn

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.errors import EngineError, ForfeitError, IllegalActionError, SettingError, StageError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.gtp.process import EngineProcess, command_words
from selfplay.gtp.protocol import Vertices, colour_of, title_of
from selfplay.players.player import Player
from selfplay.search.deadline import StoppedError

log = logging.getLogger(__name__)

START_LIMIT = 30.0
"""Seconds for the first answers, because an engine may load much data; a longer time limit takes precedence."""

PASSES = ("skip", "send")


class GtpPlayer(Player):
    """Plays what an engine answers to `genmove`. It follows one match at a time and sends each ply once.

    An engine that exits, stalls, answers with an error or plays an illegal move loses its match (ForfeitError), and is
    restarted for the next one.

    Args:
        command: the command as in a shell, but without expansion; the program is also searched for in /usr/games.
        time_limit: seconds for each answer.
        rows: the side of the board where the engine has row 1, as for `Vertices`.
        passes: "send" to send passes to the engine, or "skip" for an engine that rejects them because it passes for a
            player without another move, as gtp-rhino does.

    Raises:
        SettingError: an argument is out of range, the program does not exist, or the protocol does not fit the game.
        StageError: the engine does not start, or does not play this game.
    """

    def __init__(
        self, game: Game, command: str, *, time_limit: float = 60.0, rows: str = "board", passes: str = "skip"
    ) -> None:
        if not 0 < time_limit < float("inf"):
            raise SettingError(f"gtp:{command}: time_limit={time_limit}: must be seconds above 0")
        if passes not in PASSES:
            raise SettingError(f"gtp:{command}: passes={passes}: must be {' or '.join(PASSES)}")
        self.game, self.command, self.name = game, command, f"gtp:{command}"
        self.time_limit, self.passes = time_limit, passes
        self._vertices = Vertices(game, rows)
        self._words = command_words(command)
        self._match: list[int] = []
        self._told: list[int] | None = None
        self._engine: EngineProcess | None = None
        try:
            self._engine = self._started()
        except EngineError as error:
            raise StageError(f"{self.name}: {error}") from error

    def follow(self, actions: Sequence[int]) -> None:
        self._match = list(actions)

    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[1]: the engine's action in a batch of one, the match it has followed.

        Raises ForfeitError if the engine does not answer with a legal action.
        """
        mask = self.game.legal_action_mask(state)[0]
        legal = mask.nonzero()[:, 0].tolist()
        if legal == [self.game.pass_action]:
            return torch.tensor(legal)
        try:
            self._engine = self._engine or self._started()
            self._tell_match(self._engine)
            genmove = f"genmove {colour_of(int(state.current_player))}"
            vertex = self._engine.ask(genmove, self.time_limit).strip()
            if vertex.lower() == "resign":
                raise EngineError("it resigned")
            action = self._vertices.action(vertex)
        except StoppedError:
            # The engine may still be thinking.
            self.close()
            raise
        except (EngineError, IllegalActionError) as error:
            self._forfeit(str(error))
        if action not in legal:
            self._forfeit(f"it played {vertex}, which is not legal")
        self._told = [*self._match, action]
        return torch.tensor([action])

    def close(self) -> None:
        """End the engine; the next match restarts it."""
        if self._engine is not None:
            self._engine.end()
        self._engine, self._told = None, None

    def __del__(self) -> None:
        if getattr(self, "_engine", None) is not None:
            self.close()

    def _forfeit(self, reason: str) -> NoReturn:
        self.close()
        raise ForfeitError(f"{self.name} forfeits: {' '.join(reason.split())}")

    def _started(self) -> EngineProcess:
        """A new process of the engine, ready for a match of this game."""
        engine, limit = EngineProcess(self._words), max(START_LIMIT, self.time_limit)
        advice = "run the command by itself; it must speak GTP"
        try:
            known = engine.ask("list_commands", limit).split()
            advice = f"it must play {self.game.presentation.title}"
            for command in self._commands_at_start(known):
                engine.ask(command, limit)
        except EngineError as error:
            engine.end()
            raise EngineError(f"{error}; {advice}") from error
        return engine

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

    def _tell_match(self, engine: EngineProcess) -> None:
        """Send the plies that the engine does not know yet, or all plies if it knows another match."""
        known = self._told
        if known is None or known != self._match[: len(known)]:
            engine.ask("clear_board", self.time_limit)
            known = []
        state = self.game.init()
        for ply, action in enumerate(self._match):
            if ply >= len(known) and (action != self.game.pass_action or self.passes == "send"):
                colour = colour_of(int(state.current_player))
                engine.ask(f"play {colour} {self._vertices.text(action)}", self.time_limit)
            state = self.game.step_unchecked(state, torch.tensor([action]))
