"""A player as an engine of the Universal Chess Interface, which answers a board or a manager of matches."""

from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from itertools import pairwise
from threading import Event, Thread

from selfplay.errors import IllegalActionError, SelfPlayError, shortened
from selfplay.games import Game, game_names, make_game
from selfplay.games.match import Match
from selfplay.installation import __version__
from selfplay.names_of_games import parts_of_game_name
from selfplay.players.player import Player
from selfplay.protocols.clock import SHARE_USED, share_of
from selfplay.protocols.commands import CommandError, clock_number
from selfplay.protocols.line_engine import LineEngine, Write
from selfplay.protocols.uci.notation import NONE, VARIANT_OPTION, VARIANTS, UciMoves, game_of_variant, variant_of
from selfplay.search.deadline import LEAST_SECONDS, Deadline, StoppedError

Told = tuple[str, list[str]]
"""How a match began, and its moves, as the controller wrote them."""
NOT_TOLD: Told = ("", [])
"""A match that could not be read."""


FIRST_SECONDS, HURRIED_SECONDS = 1.0, 0.1
"""The time of the first search without a limit, and that of a search whose answer is awaited."""


class Thinking:
    """The choice of a move in a thread of its own.

    Args:
        choose: searches for a move, and returns the answer.
        seconds: the time for it; None: as long as the player takes.
        waits: search again and again, each time twice as long, and answer only when it is ended.
    """

    def __init__(self, choose: Callable[[], str], seconds: float | None, *, waits: bool) -> None:
        self._choose, self._waits, self._stopped = choose, waits, Event()
        self._deadline = Deadline(FIRST_SECONDS if waits else seconds)

    def start(self, write: Write) -> None:
        """Begin; the answer is written when the move is found."""
        self._thread = Thread(target=copy_context().run, args=(self._work, write), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let it answer at once, with what it has found so far."""
        self._stopped.set()
        self._deadline.cancel()
        self._thread.join()

    def _work(self, write: Write) -> None:
        answer, seconds, is_whole = None, FIRST_SECONDS, False
        while not (is_whole or self._stopped.is_set()):
            with suppress(StoppedError), self._deadline.applied():
                answer = self._choose()
            is_whole = not (self._waits and self._deadline.is_over)
            seconds *= 2
            self._deadline = self._deadline if is_whole else Deadline(seconds)
        if self._waits:
            self._stopped.wait()
        if answer is None:
            with Deadline(HURRIED_SECONDS).applied():
                answer = self._choose()
        write(answer)


class UciEngine(LineEngine):
    """A player that moves at the command of a controller, which sends the whole match before each move.

    The protocol asks engines to ignore words before a command that they do not know, and `stop` where nothing is
    going on.
    """

    fault = "info string error: "

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int) -> None:
        super().__init__(game, make, key)
        self._told: Told = NOT_TOLD
        base = parts_of_game_name(game.name).base
        boards = [name for name in game_names() if parts_of_game_name(name).base == base]
        self._variants = list(dict.fromkeys([variant_of(game), *(VARIANTS.get(name, name) for name in boards)]))
        self._begin(game)
        self.commands = {
            "uci": self._introduce,
            "isready": lambda _: ["readyok"],
            "setoption": self._set_option,
            "ucinewgame": self._new_match,
            "position": self._set_position,
            "go": self._go,
            "quit": self.quit,
            **dict.fromkeys(("debug", "register", "stop", "ponderhit"), lambda _: []),
        }

    def interrupts(self, line: str) -> bool:
        """A controller may ask whether the engine is ready while it thinks."""
        return line.split()[:1] != ["isready"]

    def lines_of_answer(self, name: str, argument: str) -> list[str]:
        words = [name, *argument.split()]
        first = next((place for place, word in enumerate(words) if word in self.commands), 0)
        return super().lines_of_answer(words[first], " ".join(words[first + 1 :]))

    # ------------------------------------------------------------------ the game and the match

    def _begin(self, game: Game) -> None:
        self.moves, self._player = UciMoves(game), self._make(game)
        self.match = Match(game)
        self._told = "startpos", []

    def _introduce(self, _: str) -> list[str]:
        own, *others = self._variants
        names = "".join(f" var {name}" for name in (own, *others))
        return [
            f"id name selfplay {__version__} {self.player.name}",
            "id author selfplay",
            f"option name {VARIANT_OPTION} type combo default {own}{names}",
            "uciok",
        ]

    def _set_option(self, text: str) -> list[str]:
        """Only the variant matters: the name of the player says how it plays."""
        name, _, value = text.removeprefix("name ").partition(" value ")
        if name.lower() != VARIANT_OPTION.lower():
            return []
        # Neither names nor values are case-sensitive.
        variant = {one.lower(): one for one in self._variants}.get(value.lower())
        if variant is None:
            raise CommandError(f"{shortened(value)!r} is not one of the variants {', '.join(self._variants)}")
        if variant != variant_of(self.game):
            self._begin(make_game(game_of_variant(variant)))
        return [self.moves.about_variant()]

    def _new_match(self, _: str) -> list[str]:
        self.match, self._told = Match(self.game), ("startpos", [])
        return []

    def _set_position(self, text: str) -> list[str]:
        """Begin a match at a position and play moves, or only those that have been added since the last position."""
        begun, _, said = text.partition("moves")
        begun, moves = begun.strip(), said.split()
        (known_start, known), self._told = self._told, NOT_TOLD
        if begun != known_start or moves[: len(known)] != known:
            kind, _, fen = begun.partition(" ")
            if kind not in ("startpos", "fen"):
                raise CommandError("a position is startpos or fen")
            self.match = Match(self.game, self.moves.read_fen(fen) if kind == "fen" else None)
            known = []
        for move in moves[len(known) :]:
            self._play(move)
        self._told = begun, moves
        return []

    def _play(self, move: str) -> None:
        legal = self.moves.actions(self.match.state)
        if move not in legal:
            raise IllegalActionError(f"{shortened(move)!r} is not legal after {len(self.match.actions)} moves")
        self.match = self.match.play(legal[move])

    # ------------------------------------------------------------------ moves

    def _go(self, text: str) -> list[str]:
        """Begin to think; `depth`, `nodes`, `mate` and `searchmoves` are without effect: the name of the player says
        how deep it looks."""
        words = text.split()
        waits = "infinite" in words or "ponder" in words
        seconds = None if waits else self.search_seconds(self._seconds_for_move(words))
        self.background = Thinking(self._best_move, seconds, waits=waits)
        return []

    def _best_move(self) -> str:
        if self.match.is_over or self._told == NOT_TOLD:
            return f"bestmove {NONE}\n"
        try:
            action = self.choice(self.match)
            texts = {number: text for text, number in self.moves.actions(self.match.state).items()}
        except SelfPlayError as error:
            return f"info string error: {' '.join(str(error).split())}\nbestmove {NONE}\n"
        return f"bestmove {texts[action]}\n"

    def _seconds_for_move(self, words: list[str]) -> float | None:
        """The time for a move by what follows `go`; None without a limit."""
        given = {name: value for name, word in pairwise(words) if (value := clock_number(word)) is not None}
        limits = [SHARE_USED * given["movetime"] / 1000] if "movetime" in given else []
        colour = "wb"[self.match.to_move]
        if (left := given.get(f"{colour}time")) is not None:
            shared = share_of(left / 1000, left / 1000, given.get("movestogo", 0), self.lag)
            increment = SHARE_USED * given.get(f"{colour}inc", 0) / 1000
            limits.append(min(shared + increment, SHARE_USED * left / 1000))
        return max(LEAST_SECONDS, min(limits)) if limits else None
