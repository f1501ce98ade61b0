"""What engines of all protocols share: a player that answers the lines of a controller."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Protocol

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.players.player import Player
from selfplay.playing.open_session import player_for
from selfplay.settings.playing import EngineSettings

Write = Callable[[str], None]


class Background(Protocol):
    """What an engine does while it waits for the next line, such as an analysis."""

    def start(self, write: Write) -> None:
        """Begin, in threads of its own, with this function for what it has to say."""

    def end(self) -> None:
        """End it; it has started."""


class LineEngine(ABC):
    """A player that does what the lines of a controller say."""

    has_quit = False
    background: Background | None = None
    """What begins after the line that is answered, and ends before the next one."""

    @abstractmethod
    def answer(self, line: str) -> str:
        """The text of the answer to a line, with its end; empty if none is expected."""


def answer_lines(engine: LineEngine, lines: Iterable[str], write: Write) -> None:
    """Answer the lines until the last one, or the one that lets the engine quit."""
    try:
        for line in lines:
            _end_background(engine)
            if answer := engine.answer(line):
                write(answer)
            if engine.has_quit:
                return
            if engine.background is not None:
                engine.background.start(write)
    finally:
        _end_background(engine)


def _end_background(engine: LineEngine) -> None:
    if engine.background is not None:
        engine.background.end()
        engine.background = None


def maker_of(settings: EngineSettings) -> Callable[[Game], Player]:
    """What makes the player of the settings for a game, which may be another board than theirs."""
    return lambda game: player_for(settings.player, game, settings)


def key_of(settings: EngineSettings) -> int:
    """The stream of the random numbers of an engine."""
    return stream_key(settings.seed, 0, Activity.VERSUS_PERSON)
