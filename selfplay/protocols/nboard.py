"""The protocol of NBoard, version 2 (Welty), for Othello: players of its engines, such as Ntest and Edax, and our
players as engines of a board such as NBoard."""

import re
from collections.abc import Callable
from time import monotonic

import numpy as np

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.players.estimates import Estimate, best_estimate
from selfplay.players.player import Player
from selfplay.protocols.commands import CommandError, whole_numbers
from selfplay.protocols.engine_player import EnginePlayer, advice
from selfplay.protocols.line_engine import LineEngine
from selfplay.protocols.process import EngineProcess
from selfplay.records import FORMATS, fitting_formats, record_of, require_whole, written_record

VERSION = 2
GGF = "ggf"
"""The format of the matches in commands."""
CHOICE, PONG = "===", "pong"
"""The first words of the answers to `go` and `ping`. Other lines may come at any time and tell how it is getting on."""
PASS = "PA"


def require_othello(game: Game) -> None:
    """Raise SettingError if matches of the game cannot be told by this protocol."""
    if GGF not in fitting_formats(game):
        raise SettingError(f"game={game.name}: the NBoard protocol is for Othello")


def move_text(game: Game, action: int) -> str:
    """The text of an action in the protocol: F5, or PA for a pass."""
    return PASS if action == game.pass_action else game.action_to_string(action).upper()


def ask_nboard(engine: EngineProcess, command: str, word: str, time_limit: float) -> str:
    """Send a command and return what follows `word` on the line that begins with it.

    Raises EngineError as `EngineProcess.lines`.
    """
    lines = engine.lines(command, time_limit)
    return next(words[len(word) :].strip() for line in lines if (words := line.strip()).startswith(word))


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
            ask_nboard(engine, f"nboard {VERSION}\nset depth {self.depth}\nping 1", f"{PONG} 1", time_limit)

    def ask_move(self, engine: EngineProcess) -> str:
        engine.send(f"set game {written_record(record_of(self.match), GGF).text.strip()}")
        # Engines write "F5/1.20/0.3" or "F5 1.20 0.3": the move, its value and the time.
        return re.split(r"[\s/]", ask_nboard(engine, "go", CHOICE, self.time_limit))[0]

    def read_move(self, text: str) -> int:
        return self.game.string_to_action(text)


OF_MATCH = ("move", "hint", "go", "analyze")
"""The commands about the match that was sent."""


class NBoardEngine(LineEngine):
    """A player that moves and gives hints at the command of a board, which plays the moves of both colours.

    The protocol asks engines to ignore commands that they do not know.
    """

    fault = "status error: "

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int) -> None:
        require_othello(game)
        super().__init__(game, make, key)
        # Made before the first answer, which says that the engine is ready.
        self._player = make(game)
        self._is_told = True
        self.commands = {
            "nboard": lambda _: [f"set myname selfplay {self.player.name}"],
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "ping": lambda number: [f"{PONG} {number}"],
            "learn": lambda _: ["learned"],
            "analyze": self._analyze,
            "quit": self.quit,
        }

    def _set(self, text: str) -> list[str]:
        """Only the match matters: the name of the player says how deep it looks."""
        name, _, value = text.partition(" ")
        if name == "game":
            self._is_told = False
            (record,) = FORMATS[GGF].read(value, None, None)
            require_whole(record)
            self.begin(record.match)
            self._is_told = True
        return []

    def lines_of_answer(self, name: str, argument: str) -> list[str]:
        if name in OF_MATCH and not self._is_told:
            raise CommandError("the last match that was sent could not be read; send another one")
        return super().lines_of_answer(name, argument)

    def _move(self, text: str) -> list[str]:
        self.match = self.match.play(text.partition("/")[0])
        return []

    def _go(self, _: str) -> list[str]:
        if self.match.is_over:
            raise CommandError("the match is over")
        start = monotonic()
        action = self.choice(self.match)
        return [f"{CHOICE} {move_text(self.game, action)}//{monotonic() - start:.2f}"]

    def _estimate(self, match: Match) -> Estimate | None:
        """What is expected of the moves; None if the player does not value moves, or the match is over."""
        return best_estimate(self.player, self.game, match.state, self.draws(match))

    def _hint(self, number: str) -> list[str]:
        """The best moves with their values, in discs if the player counts them, the best first."""
        (wanted,) = whole_numbers(number or "1")
        estimate = self._estimate(self.match)
        if estimate is None:
            return [f"status {'the match is over' if self.match.is_over else 'this player does not value moves'}"]
        values = estimate.values
        best_first = [action for action in np.argsort(-values, kind="stable") if np.isfinite(values[action])]
        return [
            f"search {move_text(self.game, int(action))} {values[action]:.2f} 0 1 {self.player.name}"
            for action in best_first[:wanted]
        ]

    def _analyze(self, _: str) -> list[str]:
        """The value of each position of the match to black."""
        lines = []
        for ply in range(len(self.match.states)):
            match = self.match.before(ply)
            if match.is_over:
                lines.append(f"analysis {ply} {float(self.game.score(match.state)):.2f}")
            elif (estimate := self._estimate(match)) is not None:
                value = float(np.nanmax(estimate.values))
                lines.append(f"analysis {ply} {value if match.to_move == 0 else 0.0 - value:.2f}")
        return lines
