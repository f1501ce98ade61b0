"""A third-party engine as a player, whatever protocol it speaks."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import ClassVar, NoReturn

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.engines.process import EngineProcess, command_words
from selfplay.errors import (
    EngineError,
    ForfeitError,
    IllegalActionError,
    NotNowError,
    ResignError,
    SettingError,
    StageError,
)
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player
from selfplay.search.deadline import StoppedError

START_LIMIT = 30.0
"""Seconds for the first answers, because an engine may load much data; a longer time limit takes precedence."""


class EnginePlayer(Player):
    """Plays the moves of an engine, and passes by itself where nothing else is legal. It follows one match at a time.

    An engine that exits, stalls, answers with an error or plays an illegal move loses its match (ForfeitError), and is
    restarted for the next one. A subclass has one protocol: how a process begins, is told a match and asked for a move.

    Args:
        command: the command as in a shell, but without expansion; the program is also searched for in /usr/games.
        time_limit: seconds for each answer.

    Raises:
        SettingError: the time limit is out of range, or the program does not exist.
        StageError: the engine does not start, or does not play this game.
    """

    protocol: ClassVar[str]
    """The kind of player, which begins its name."""
    farewell: ClassVar[str] = "quit"
    """The command that asks an engine to quit."""
    sets_up: ClassVar[bool] = False
    """Whether an engine can be told a position that no match from the start of the game leads to."""

    def __init__(self, game: Game, command: str, time_limit: float) -> None:
        self.name = f"{self.protocol}:{command}"
        if not 0 < time_limit < float("inf"):
            raise SettingError(f"{self.name}: time_limit={time_limit}: must be seconds above 0")
        self.game, self.command, self.time_limit = game, command, time_limit
        self.match: list[int] = []
        """The match that is played."""
        self.states: list[State] = [game.init()]
        """The positions of the match, from the start of the game."""
        self.told: list[int] | None = None
        """The actions that the engine knows; None if it knows no match."""
        self._words = command_words(command, self.name)
        self._engine: EngineProcess | None = None
        try:
            self._engine = self._started()
        except EngineError as error:
            raise StageError(f"{self.name}: {error}") from error

    @abstractmethod
    def greet(self, engine: EngineProcess, time_limit: float) -> None:
        """Prepare a new process for matches of the game, with this number of seconds for each answer."""

    @abstractmethod
    def ask_move(self, engine: EngineProcess, state: State) -> str:
        """Tell the engine what it does not know of `match`, and ask it for a move; returns its answer."""

    @abstractmethod
    def read_move(self, text: str) -> int:
        """The action that an answer names. Raises IllegalActionError if it does not name one."""

    def follow(self, actions: Sequence[int]) -> None:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self.match, actions, strict=False))
        known = sum(1 for _ in same)
        self.match = list(actions)
        del self.states[known + 1 :]
        for action in self.match[known:]:
            self.states.append(self.game.step_unchecked(self.states[-1], torch.tensor([action])))

    def begins_elsewhere(self, state: State) -> bool:
        """Whether a position (B = 1) is not that of the match, because it began in another one than the game."""
        return state.key() != self.states[-1].key()

    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[1]: the engine's action in a batch of one, the match it has followed.

        Raises ForfeitError if the engine does not answer with a legal action, and NotNowError if the match did not
        begin at the start of the game, and the protocol cannot tell the engine so.
        """
        if not self.sets_up and self.begins_elsewhere(state):
            raise NotNowError(f"{self.name}: only plays matches that begin at the start of the game")
        legal = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        if legal == [self.game.pass_action]:
            return torch.tensor(legal)
        try:
            self._engine = self._engine or self._started()
            move = self.ask_move(self._engine, state)
            action = self.read_move(move)
        except StoppedError:
            # The engine may still be thinking.
            self.close()
            raise
        except (EngineError, IllegalActionError) as error:
            self._forfeit(str(error))
        if action not in legal:
            self._forfeit(f"it played {move}, which is not legal")
        self.told = [*self.match, action]
        return torch.tensor([action])

    def untold(self) -> list[int] | None:
        """The actions of the match that the engine does not know yet; None if it knows another match, or none."""
        known = self.told
        return self.match[len(known) :] if known is not None and known == self.match[: len(known)] else None

    def close(self) -> None:
        """End the engine; the next match restarts it."""
        if self._engine is not None:
            self._engine.end()
        self._engine, self.told = None, None

    def __del__(self) -> None:
        if getattr(self, "_engine", None) is not None:
            self.close()

    def resign(self) -> NoReturn:
        """The engine gives its match up; it plays the next one. Raises ResignError."""
        raise ResignError(f"{self.name} resigns")

    def _forfeit(self, reason: str) -> NoReturn:
        self.close()
        raise ForfeitError(f"{self.name} forfeits: {' '.join(reason.split())}")

    def _started(self) -> EngineProcess:
        """A new process of the engine, ready for a match of this game."""
        engine = EngineProcess(self._words, self.farewell)
        try:
            self.greet(engine, max(START_LIMIT, self.time_limit))
        except EngineError:
            engine.end()
            raise
        return engine


@contextmanager
def advice(text: str) -> Iterator[None]:
    """Add what a person can do about it to an EngineError of the block."""
    try:
        yield
    except EngineError as error:
        raise EngineError(f"{error}; {text}") from error
