"""What engines of all protocols share: a player that answers the lines of a controller."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

import torch

from selfplay.compute.compilation import FEW_POSITIONS
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SelfPlayError
from selfplay.games import Game
from selfplay.games.state import State
from selfplay.players.capabilities import FollowsMatch
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.playing.open_session import player_for
from selfplay.search.deadline import LEAST_SECONDS, Deadline
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
    """What begins after the line that is answered, and ends before the next one that `interrupts`."""

    def interrupts(self, line: str) -> bool:
        """Whether what is done in the background ends before this line is answered."""
        return True

    @abstractmethod
    def answer(self, line: str) -> str:
        """The text of the answer to a line, with its end; empty if none is expected."""


def answer_lines(engine: LineEngine, lines: Iterable[str], write: Write) -> None:
    """Answer the lines until the last one, or the one that lets the engine quit."""
    try:
        for line in lines:
            if engine.interrupts(line):
                _end_background(engine)
            running = engine.background
            if answer := engine.answer(line):
                write(answer)
            if engine.has_quit:
                return
            if engine.background is not None and engine.background is not running:
                engine.background.start(write)
    finally:
        _end_background(engine)


def _end_background(engine: LineEngine) -> None:
    if engine.background is not None:
        engine.background.end()
        engine.background = None


def maker_of(settings: EngineSettings) -> Callable[[Game], Player]:
    """What makes the player of the settings for a game, which may be another board than theirs, and prepares it."""

    def made(game: Game) -> Player:
        player = player_for(settings.player, game, settings)
        prepare(player, game, key_of(settings))
        return player

    return made


def prepare(player: Player, game: Game, key: int) -> None:
    """Compile what the moves of a match need, so that it takes no time of the match: the rules, and the searches of the
    player at the start and near the end. Third-party engines are left alone."""
    if isinstance(player.unwrapped, FollowsMatch):
        return
    many = game.init(FEW_POSITIONS + 1)
    game.step_unchecked(many, game.legal_action_mask(many).long().argmax(dim=1))
    for state in (game.init(), _late_position(game, key)):
        # A search that finds nothing in so little time is compiled all the same.
        with Deadline(LEAST_SECONDS).applied(), suppress(SelfPlayError):
            player.act(state, Draws(key, torch.tensor([0]), 0))


def _late_position(game: Game, key: int) -> State:
    """The last position (B = 1) of a random match in which an action is left to choose."""
    nobody, state, ply = RandomPlayer(game), game.init(), 0
    following = state
    while not bool(following.terminated):
        state, ply = following, ply + 1
        following = game.step_unchecked(state, nobody.act(state, Draws(key, torch.tensor([0]), ply)))
    return state


def key_of(settings: EngineSettings) -> int:
    """The stream of the random numbers of an engine."""
    return stream_key(settings.seed, 0, Activity.VERSUS_PERSON)
