"""What our engines of all protocols share: a player that answers the lines of a controller, one match at a time."""

from abc import ABC
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from math import inf
from time import monotonic
from typing import ClassVar, Protocol

import torch

from selfplay.compute.compilation import FEW_POSITIONS
from selfplay.compute.random_numbers import Draws
from selfplay.errors import SelfPlayError
from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.games.state import State
from selfplay.players.capabilities import FollowsMatch, capability, chosen_action
from selfplay.players.player import Player, RandomPlayer
from selfplay.protocols.commands import SIZE_LIMIT, CommandError
from selfplay.search.deadline import LEAST_SECONDS, Deadline, current_deadline

Write = Callable[[str], None]

LATEST = 0.2
"""The weight of the latest move in the average of how much longer moves take than their searches."""


class Background(Protocol):
    """What an engine does while it waits for the next line, such as an analysis."""

    def start(self, write: Write) -> None:
        """Begin, in threads of its own, with this function for what it has to say."""

    def end(self) -> None:
        """End it; it has started."""


class LineEngine(ABC):
    """A player that does what the lines of a controller say, which moves both colours of a match.

    A line is a command and its argument. A subclass has the commands of one protocol.

    Args:
        game: the game that is played until the controller chooses another board.
        make: makes the player for a game, which may be another board than `game`.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.

    Raises SettingError if the protocol cannot express the game's actions.
    """

    fault: ClassVar[str]
    """How the answer to a command that failed begins."""
    unknown: ClassVar[list[str]] = []
    """The answer to a command that is not known; by default there is none."""

    has_quit = False
    background: Background | None = None
    """What begins after the line that is answered, and ends before the next one that `interrupts`."""

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int) -> None:
        self._make, self._key = make, key
        self._player: Player | None = None
        self.match, self.number = Match(game), 0
        self.lag = 0.0
        """Seconds that moves have taken beyond the ends of their searches, on average."""
        self.commands: dict[str, Callable[[str], list[str]]] = {}
        """What answers each command, with lines."""

    @property
    def game(self) -> Game:
        """The game of the current match."""
        return self.match.game

    @property
    def player(self) -> Player:
        """The player of the current game, made when it is first needed: most controllers choose the board first."""
        if self._player is None:
            self._player = self._make(self.game)
        return self._player

    def begin(self, match: Match) -> None:
        """Begin the next match as this one. The player of another game is made first, because it may not exist."""
        if match.game.rules != self.game.rules:
            self._player = self._make(match.game)
        # A match that has not begun keeps its number.
        self.number += bool(self.match.actions or self.match.is_over)
        self.match = match

    def draws(self, match: Match) -> Draws:
        """The random numbers of the next ply of the current match."""
        return Draws(self._key, torch.tensor([self.number]), len(match.actions))

    def choice(self, match: Match, seconds: float | None = None) -> int:
        """The action that the player takes in this time; None: until the deadline of the context, if it has one.

        Raises ForfeitError if it gives up.
        """
        given, began = self.search_seconds(seconds), monotonic()
        with nullcontext() if given is None else Deadline(given).applied():
            left = current_deadline().left
            action = chosen_action(self.player, match, self.draws(match))
        if left < inf:
            self.lag += LATEST * (max(0.0, monotonic() - began - left) - self.lag)
        return action

    def search_seconds(self, seconds: float | None) -> float | None:
        """The part of the time for a move after which its search has to end."""
        return None if seconds is None else max(LEAST_SECONDS, seconds - self.lag)

    def interrupts(self, line: str) -> bool:
        """Whether what is done in the background ends before this line is answered."""
        return True

    def answer(self, line: str) -> str:
        """The text of the answer to a line, with its end; empty if none is expected."""
        name, _, argument = " ".join(line.split()).partition(" ")
        if not name:
            return ""
        try:
            if len(line) > SIZE_LIMIT:
                raise CommandError("line too long")
            lines = self.lines_of_answer(name, argument)
        except (CommandError, SelfPlayError) as error:
            lines = [self.fault + " ".join(str(error).split())]
        return "".join(f"{text}\n" for text in lines if text)

    def lines_of_answer(self, name: str, argument: str) -> list[str]:
        """What a command answers. Raises CommandError and SelfPlayError if it cannot be carried out."""
        return self.commands[name](argument) if name in self.commands else self.unknown

    def quit(self, *_: str) -> list[str]:
        """The command that ends the engine."""
        self.has_quit = True
        return []


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


def prepare_player(player: Player, game: Game, key: int) -> None:
    """Compile what the moves of a match need, so that it takes no time of the match: the rules, and the searches of the
    player at the start and near the end. Third-party engines are left alone."""
    if capability(player, FollowsMatch):
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
