"""A third-party engine as a player, whatever protocol it speaks."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import ClassVar, NoReturn

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
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
from selfplay.games.match import Match
from selfplay.games.state import State
from selfplay.players.player import Player
from selfplay.protocols.process import EngineProcess, command_words
from selfplay.search.deadline import StoppedError

START_LIMIT = 30.0
"""Seconds for the first answers, because an engine may load much data; a longer time limit takes precedence."""


class EnginePlayer(Player):
    """Plays the moves of an engine, and passes by itself where nothing else is legal. It follows one match at a time.

    An engine that exits, stalls, answers with an error or plays an illegal move loses its match (ForfeitError), and is
    restarted for the next one. A subclass has one protocol: how a process begins, is told a match and asked for a move.

    Args:
        command: the command as in a shell, but without expansion; the program is also searched for in /usr/games.
        time_limit: seconds for each answer; those at the start of the process at least START_LIMIT.

    Raises:
        SettingError: the time limit is out of range, or the program does not exist.
        StageError: the engine does not start, or does not play this game.
    """

    protocol: ClassVar[str]
    """The kind of player, which begins its name."""
    farewell: ClassVar[str] = "quit"
    """The command that asks an engine to quit."""

    def __init__(self, game: Game, command: str, time_limit: float) -> None:
        self.name = f"{self.protocol}:{command}"
        if not 0 < time_limit < float("inf"):
            raise SettingError(f"{self.name}: time_limit={time_limit}: must be seconds above 0")
        self.game, self.command, self.time_limit = game, command, time_limit
        self.match = Match(game)
        """The match that is played."""
        self.told: Match | None = None
        """The match that the engine knows; None if it knows none."""
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
    def ask_move(self, engine: EngineProcess) -> str:
        """Tell the engine what it does not know of `match`, and ask it for a move; returns its answer.

        Raises NotNowError if it cannot be told the position in which the match begins.
        """

    @abstractmethod
    def read_move(self, text: str) -> int:
        """The action that an answer names. Raises IllegalActionError if it does not name one."""

    def follow(self, match: Match) -> None:
        self.match = match

    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[1]: the engine's action in the match that it has followed, whose position is `state`.

        Raises ForfeitError if the engine does not answer with a legal action, and NotNowError if it cannot be told the
        position in which the match begins.
        """
        if self.match.can_only_pass:
            return torch.tensor(self.match.legal_actions())
        try:
            self._engine = self._engine or self._started()
            move = self.ask_move(self._engine)
            action = self.read_move(move)
        except StoppedError:
            # The engine may still be thinking.
            self.close()
            raise
        except (EngineError, IllegalActionError) as error:
            self._forfeit(str(error))
        if action not in self.match.legal_actions():
            self._forfeit(f"it played {move}, which is not legal")
        self.told = self.match.play(action)
        return torch.tensor([action])

    def untold(self) -> list[int] | None:
        """The actions of the match that the engine does not know yet; None if it knows another match, or none."""
        if self.told is None or not self.match.continues(self.told):
            return None
        return list(self.match.actions[len(self.told.actions) :])

    def refuse_start(self, reason: str) -> NoReturn:
        """The engine cannot be told the position in which the match begins. Raises NotNowError."""
        raise NotNowError(f"{self.name} cannot play a match that begins in this position: {reason}")

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


def placed_in_turns(match: Match) -> Match | None:
    """A match from the start of the game to the position in which this one begins, in which the players have placed its
    stones in turns; None if there is none, because stones move, turn or vanish, or a turn is left out."""
    squares = match.game.squares(match.start)[0].tolist()
    first, second = ([square for square, stone in enumerate(squares) if stone == one] for one in (1, -1))
    try:
        placed = Match(match.game).play_all(
            one for pair in zip_longest(first, second) for one in pair if one is not None
        )
    except IllegalActionError:
        return None
    return placed if placed.state.key() == match.start.key() else None
