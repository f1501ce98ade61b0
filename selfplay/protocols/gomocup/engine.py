"""A player as an engine of the Gomocup protocol for Gomoku, which answers a manager of matches such as Piskvork."""

from collections.abc import Callable
from itertools import zip_longest
from typing import ClassVar

from selfplay.errors import shortened
from selfplay.games import Game, make_game, name_of_board
from selfplay.games.match import Match
from selfplay.installation import __version__
from selfplay.names_of_games import parts_of_game_name
from selfplay.players.player import Player
from selfplay.protocols.clock import SHARE_USED, share_of
from selfplay.protocols.commands import CommandError, clock_number, whole_numbers
from selfplay.protocols.gomocup.notation import EXACTLY_FIVE, FREE_STYLE, Coordinates
from selfplay.protocols.line_engine import LineEngine

OWN, OTHER = "1", "2"
"""How the lines of BOARD mark the stones of the engine and of its opponent."""


class GomocupEngine(LineEngine):
    """A player that moves at the command of a manager, one match at a time."""

    fault = "ERROR "
    unknown: ClassVar[list[str]] = ["UNKNOWN command"]

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int) -> None:
        self.coordinates = Coordinates(game)
        super().__init__(game, make, key)
        self._has_started = False
        self._information = {"rule": f"{self.coordinates.rule}"}
        self._stones: list[str] | None = None
        """The lines so far after a command that ends with DONE; None: there is no such command."""
        self._after_lines: Callable[[list[str]], list[str]] = self._place_and_move
        """What then answers."""
        self.commands = {
            "ABOUT": lambda _: [f'name="selfplay", version="{__version__}"'],
            "START": self._start,
            "RECTSTART": self._start_rectangular,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "PLAY": self._play,
            "BOARD": lambda _: self._begin_lines(self._place_and_move),
            "YXBOARD": lambda _: self._begin_lines(self._place_stones),
            "SWAP2BOARD": lambda _: self._begin_lines(lambda _: ["UNKNOWN command SWAP2BOARD"]),
            "TAKEBACK": self._take_back,
            "INFO": self._inform,
            "END": self.quit,
        }

    def lines_of_answer(self, name: str, argument: str) -> list[str]:
        if self._stones is not None:
            return self._take_line(f"{name} {argument}".strip())
        return super().lines_of_answer(name.upper(), argument)

    # ------------------------------------------------------------------ the game

    def _start(self, size: str) -> list[str]:
        (number,) = whole_numbers(size)
        base, exact = parts_of_game_name(self.game.name).base, self._information["rule"] == f"{EXACTLY_FIVE}"
        game = make_game(name_of_board(base, number, {"exact": exact}))
        coordinates = Coordinates(game)
        self.begin(Match(game))
        # Made before the match begins.
        self._player, self.coordinates, self._has_started = self.player, coordinates, True
        return ["OK"]

    def _start_rectangular(self, sides: str) -> list[str]:
        columns, _, rows = sides.partition(",")
        if columns.strip() != rows.strip():
            raise CommandError("rectangular boards are not supported")
        return self._start(rows.strip())

    def _restart(self, _: str) -> list[str]:
        self.begin(Match(self.game))
        return ["OK"]

    def _inform(self, text: str) -> list[str]:
        key, _, value = text.partition(" ")
        self._information[key.lower()] = value.strip()
        if key.lower() == "rule" and self._has_started and value.strip() != f"{self.coordinates.rule}":
            self._start(f"{self.coordinates.size}")
        return []

    # ------------------------------------------------------------------ moves

    def _begin(self, _: str) -> list[str]:
        if self.match.actions:
            raise CommandError("the board is not empty")
        return self._move()

    def _turn(self, crossing: str) -> list[str]:
        self._place(crossing)
        return self._move()

    def _play(self, crossing: str) -> list[str]:
        """A move that the manager chooses for the engine."""
        return [self.coordinates.text(self._place(crossing))]

    def _place(self, crossing: str) -> int:
        action = self.coordinates.action(crossing)
        if action not in self.match.legal_actions():
            raise CommandError("the match is over" if self.match.is_over else f"{crossing} is not empty")
        self.match = self.match.play(action)
        return action

    def _take_back(self, crossing: str) -> list[str]:
        """Remove a stone of the player who moved last, as managers do one after the other."""
        actions = self.match.actions
        action = self.coordinates.action(crossing)
        if action not in actions[-1::-2]:
            raise CommandError("it is not a stone of the player who moved last")
        stones = [(one, number % 2 == 0) for number, one in enumerate(actions) if one != action]
        self._set_up([one for one, is_first in stones if is_first], [one for one, is_first in stones if not is_first])
        return ["OK"]

    def _begin_lines(self, then: Callable[[list[str]], list[str]]) -> list[str]:
        self._stones, self._after_lines = [], then
        return []

    def _take_line(self, line: str) -> list[str]:
        """Keep a line; after the last one, answer."""
        assert self._stones is not None
        if line.upper() != "DONE":
            self._stones.append(line)
            return []
        lines, self._stones = self._stones, None
        return self._after_lines(lines)

    def _place_and_move(self, lines: list[str]) -> list[str]:
        self._place_stones(lines)
        return self._move()

    def _place_stones(self, lines: list[str]) -> list[str]:
        """Let the match consist of the stones of these lines."""
        stones: dict[str, list[int]] = {OWN: [], OTHER: []}
        for one in lines:
            crossing, _, owner = one.rpartition(",")
            if owner.strip() not in stones:
                raise CommandError(f"{shortened(one)!r} is not a stone marked {OWN} or {OTHER}")
            stones[owner.strip()].append(self.coordinates.action(crossing))
        first, second = (OWN, OTHER) if len(stones[OWN]) == len(stones[OTHER]) else (OTHER, OWN)
        self._set_up(stones[first], stones[second])
        return []

    def _set_up(self, first: list[int], second: list[int]) -> None:
        """Let the match consist of these stones. Raises IllegalActionError if they are not those of a match."""
        if not 0 <= len(first) - len(second) <= 1:
            raise CommandError("the numbers of stones are not those of a match")
        pairs = zip_longest(first, second)
        self.match = Match(self.game).play_all(action for pair in pairs for action in pair if action is not None)

    def _move(self) -> list[str]:
        """Choose a move, play it and return its crossing."""
        if not self._has_started:
            raise CommandError("START must come first")
        if self._information["rule"] != f"{self.coordinates.rule}":
            raise CommandError(
                f"only the rules {FREE_STYLE} (five or more) and {EXACTLY_FIVE} (exactly five) are played"
            )
        if self.match.is_over:
            raise CommandError("the match is over")
        action = self.choice(self.match, self._seconds_for_move())
        self.match = self.match.play(action)
        return [self.coordinates.text(action)]

    def _seconds_for_move(self) -> float | None:
        """The time for a move by what the manager has said; None without a limit."""
        turn, left = self._milliseconds("timeout_turn"), self._milliseconds("time_left")
        if left is None:
            left = self._milliseconds("timeout_match") or None
        whole = max(left or 0, self._milliseconds("timeout_match") or 0)
        empty = self.coordinates.size**2 - len(self.match.actions)
        limits = [
            None if turn is None else SHARE_USED * turn / 1000,
            None if left is None else share_of(left / 1000, whole / 1000, empty / 2, self.lag),
        ]
        return min((limit for limit in limits if limit is not None), default=None)

    def _milliseconds(self, key: str) -> int | None:
        """What INFO has said; None if nothing, or a number so large that it means no limit."""
        return clock_number(self._information.get(key, ""))
