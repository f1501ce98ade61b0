"""A player as an engine of the Gomocup protocol for Gomoku, which answers a manager of matches such as Piskvork."""

from collections.abc import Callable
from itertools import zip_longest

from selfplay.engines.clock import SHARE_USED, share_of
from selfplay.engines.commands import SIZE_LIMIT, CommandError, is_whole_number, whole_numbers
from selfplay.engines.gomocup import EXACTLY_FIVE, FREE_STYLE, Coordinates
from selfplay.errors import SelfPlayError, shortened
from selfplay.games import Game, make_game, name_of_board
from selfplay.installation import __version__
from selfplay.players.player import Player
from selfplay.playing.line_engine import LineEngine, key_of, maker_of
from selfplay.playing.session import Session
from selfplay.registry import parts_of_game_name
from selfplay.search.deadline import LEAST_SECONDS, Deadline
from selfplay.settings.playing import GomocupSettings

OWN, OTHER = "1", "2"
"""How the lines of BOARD mark the stones of the engine and of its opponent."""


class GomocupEngine(LineEngine):
    """A player that moves at the command of a manager, one match at a time.

    Args:
        make: makes the player for a game, again when the manager chooses another board.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.

    Raises SettingError if the protocol cannot express the game's actions.
    """

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int) -> None:
        self.coordinates, self.game, self._make, self._key = Coordinates(game), game, make, key
        self.player: Player | None = None
        """None before the first START."""
        self.session = Session(game, (None, None), key)
        self._information = {"rule": f"{self.coordinates.rule}"}
        self._stones: list[str] | None = None
        """The lines so far after a command that ends with DONE; None: there is no such command."""
        self._after_lines: Callable[[list[str]], str] = self._place_and_move
        """What then answers."""
        self._commands: dict[str, Callable[[str], str]] = {
            "ABOUT": self._about,
            "START": self._start,
            "RECTSTART": self._start_rectangular,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "PLAY": self._play,
            "BOARD": lambda _: self._begin_lines(self._place_and_move),
            "YXBOARD": lambda _: self._begin_lines(self._place_stones),
            "SWAP2BOARD": lambda _: self._begin_lines(lambda _: "UNKNOWN command SWAP2BOARD"),
            "TAKEBACK": self._take_back,
            "INFO": self._inform,
            "END": self._end,
        }

    def answer(self, line: str) -> str:
        name, _, argument = line.strip().partition(" ")
        if not name:
            return ""
        try:
            if len(line) > SIZE_LIMIT:
                raise CommandError("line too long")
            if self._stones is not None:
                answer = self._take_line(line.strip())
            elif name.upper() in self._commands:
                answer = self._commands[name.upper()](argument.strip())
            else:
                answer = "UNKNOWN command"
        except (CommandError, SelfPlayError) as error:
            answer = f"ERROR {' '.join(str(error).split())}"
        return f"{answer}\n" if answer else ""

    # ------------------------------------------------------------------ the game

    def _about(self, _: str) -> str:
        return f'name="selfplay", version="{__version__}"'

    def _end(self, _: str) -> str:
        self.has_quit = True
        return ""

    def _start(self, size: str) -> str:
        (number,) = whole_numbers(size)
        base, exact = parts_of_game_name(self.game.name).base, self._information["rule"] == f"{EXACTLY_FIVE}"
        game = make_game(name_of_board(base, number, {"exact": exact}))
        self.coordinates = Coordinates(game)
        if self.player is None or game.rules != self.game.rules:
            self.player = self._make(game)
        self.game, self.session = game, Session(game, (None, None), self._key)
        return "OK"

    def _start_rectangular(self, sides: str) -> str:
        columns, _, rows = sides.partition(",")
        if columns.strip() != rows.strip():
            raise CommandError("rectangular boards are not supported")
        return self._start(rows.strip())

    def _restart(self, _: str) -> str:
        self.session.new_match()
        return "OK"

    def _inform(self, text: str) -> str:
        key, _, value = text.partition(" ")
        self._information[key.lower()] = value.strip()
        if key.lower() == "rule" and self.player is not None and value.strip() != f"{self.coordinates.rule}":
            self._start(f"{self.coordinates.size}")
        return ""

    # ------------------------------------------------------------------ moves

    def _begin(self, _: str) -> str:
        if self.session.plies:
            raise CommandError("the board is not empty")
        return self._move()

    def _turn(self, crossing: str) -> str:
        self._place(crossing)
        return self._move()

    def _play(self, crossing: str) -> str:
        """A move that the manager chooses for the engine."""
        return self.coordinates.text(self._place(crossing))

    def _place(self, crossing: str) -> int:
        action = self.coordinates.action(crossing)
        if action not in self.session.legal_actions:
            raise CommandError("the match is over" if self.session.is_over else f"{crossing} is not empty")
        self.session.play(action)
        return action

    def _take_back(self, crossing: str) -> str:
        """Remove a stone of the player who moved last, as managers do one after the other."""
        actions = [ply.action for ply in self.session.plies]
        action = self.coordinates.action(crossing)
        if action not in actions[-1::-2]:
            raise CommandError("it is not a stone of the player who moved last")
        stones = [(one, number % 2 == 0) for number, one in enumerate(actions) if one != action]
        self._set_up([one for one, is_first in stones if is_first], [one for one, is_first in stones if not is_first])
        return "OK"

    def _begin_lines(self, then: Callable[[list[str]], str]) -> str:
        self._stones, self._after_lines = [], then
        return ""

    def _take_line(self, line: str) -> str:
        """Keep a line; after the last one, answer."""
        assert self._stones is not None
        if line.upper() != "DONE":
            self._stones.append(line)
            return ""
        lines, self._stones = self._stones, None
        return self._after_lines(lines)

    def _place_and_move(self, lines: list[str]) -> str:
        self._place_stones(lines)
        return self._move()

    def _place_stones(self, lines: list[str]) -> str:
        """Let the match consist of the stones of these lines."""
        stones: dict[str, list[int]] = {OWN: [], OTHER: []}
        for one in lines:
            crossing, _, owner = one.rpartition(",")
            if owner.strip() not in stones:
                raise CommandError(f"{shortened(one)!r} is not a stone marked {OWN} or {OTHER}")
            stones[owner.strip()].append(self.coordinates.action(crossing))
        first, second = (OWN, OTHER) if len(stones[OWN]) == len(stones[OTHER]) else (OTHER, OWN)
        self._set_up(stones[first], stones[second])
        return ""

    def _set_up(self, first: list[int], second: list[int]) -> None:
        """Let the match consist of these stones. Raises IllegalActionError if they are not those of a match."""
        if not 0 <= len(first) - len(second) <= 1:
            raise CommandError("the numbers of stones are not those of a match")
        pairs = zip_longest(first, second)
        self.session.resume([action for pair in pairs for action in pair if action is not None])

    def _move(self) -> str:
        """Choose a move, play it and return its crossing."""
        if self.player is None:
            raise CommandError("START must come first")
        if self._information["rule"] != f"{self.coordinates.rule}":
            raise CommandError(
                f"only the rules {FREE_STYLE} (five or more) and {EXACTLY_FIVE} (exactly five) are played"
            )
        if self.session.is_over:
            raise CommandError("the match is over")
        with Deadline(self._seconds_for_move()).applied():
            action = self.session.choice_of(self.player)
        self.session.play(action)
        return self.coordinates.text(action)

    def _seconds_for_move(self) -> float | None:
        """The time for a move by what the manager has said; None without a limit."""
        turn, left = self._milliseconds("timeout_turn"), self._milliseconds("time_left")
        if left is None:
            left = self._milliseconds("timeout_match") or None
        whole = max(left or 0, self._milliseconds("timeout_match") or 0)
        empty = self.coordinates.size**2 - len(self.session.plies)
        limits = [
            None if turn is None else SHARE_USED * turn / 1000,
            None if left is None else share_of(left / 1000, whole / 1000, empty / 2),
        ]
        shortest = min((limit for limit in limits if limit is not None), default=None)
        return None if shortest is None else max(LEAST_SECONDS, shortest)

    def _milliseconds(self, key: str) -> int | None:
        """What INFO has said; None if nothing, or a number so large that it means no limit."""
        text = self._information.get(key, "")
        return int(text) if is_whole_number(text) else None


def make_engine(settings: GomocupSettings) -> GomocupEngine:
    """The engine that `settings` describe. Raises SettingError if the game is not Gomoku."""
    return GomocupEngine(make_game(settings.game.name), maker_of(settings), key_of(settings))
