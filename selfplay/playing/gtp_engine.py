"""A player as an engine of the Go Text Protocol (GTP), which answers the commands of a controller."""

from collections.abc import Callable
from functools import partial
from time import monotonic

from selfplay.engines.clock import Clock
from selfplay.engines.commands import CommandError, numbers_of, whole_numbers
from selfplay.engines.gtp import PASS, Answer, Command, read_command, seat_of, title_of
from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError, SettingError
from selfplay.games import Game, make_game, name_of_board
from selfplay.installation import __version__
from selfplay.players.player import Player
from selfplay.playing.gtp_analysis import FORMS, Analysis, read_request
from selfplay.playing.gtp_match import GtpMatch
from selfplay.playing.gtp_positions import PositionCommands
from selfplay.playing.line_engine import LineEngine, key_of, maker_of
from selfplay.registry import parts_of_game_name
from selfplay.search.deadline import Deadline
from selfplay.settings.playing import GtpSettings


class GtpEngine(LineEngine):
    """A player that moves at the command of a controller, one match at a time.

    Args:
        make: makes the player for a game, again when the controller chooses another board or komi.
        key, rows: as for `GtpMatch`.

    Raises SettingError if the protocol cannot express the game's actions.
    """

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int, rows: str = "board") -> None:
        self.match, self._make = GtpMatch(game, key, rows), make
        self.player = make(game)
        self._komi: float | None = None
        self._clock = Clock()
        # By name: the number of arguments that are needed, and the function that returns the text of the answer.
        # Those that it does not take are ignored.
        self._commands: dict[str, tuple[int, Callable[..., str]]] = {
            "protocol_version": (0, lambda *_: "2"),
            "name": (0, lambda *_: f"selfplay {self.player.name}"),
            "version": (0, lambda *_: __version__),
            "known_command": (1, lambda name, *_: str(name in self._commands).lower()),
            "list_commands": (0, lambda *_: "\n".join(self._commands)),
            "quit": (0, self._quit),
            "list_games": (0, lambda *_: title_of(self.game)),
            "set_game": (1, self._set_game),
            "boardsize": (1, self._boardsize),
            "clear_board": (0, self._clear_board),
            "komi": (1, self._set_komi),
            "get_komi": (0, lambda *_: f"{self.game.komi or 0:g}"),
            "play": (2, self._play),
            "genmove": (1, self._genmove),
            "reg_genmove": (1, lambda colour, *_: self._choose(colour)[0]),
            "undo": (0, self._undo),
            "time_settings": (3, self._time_settings),
            "time_left": (3, self._time_left),
        }
        self._commands |= {name: (0, partial(self._analyse, name)) for name in FORMS}
        self._commands |= PositionCommands(self.match, self._remake).commands
        if game.komi is not None:
            self._commands["kgs-genmove_cleanup"] = (1, self._genmove_cleanup)

    @property
    def game(self) -> Game:
        return self.match.game

    def answer(self, line: str) -> str:
        try:
            command = read_command(line)
        except ValueError as error:
            return Answer(False, str(error)).written()
        if command is None:
            return ""
        answer = self._answer(command).written(command.number)
        # The reports of an analysis are part of its answer, which ends with an empty line.
        return answer if self.background is None else answer.removesuffix("\n")

    def _answer(self, command: Command) -> Answer:
        if command.name not in self._commands:
            return Answer(False, "unknown command")
        needed, run = self._commands[command.name]
        if len(command.arguments) < needed:
            return Answer(False, "syntax error")
        try:
            return Answer(True, run(*command.arguments))
        except (CommandError, SelfPlayError) as error:
            return Answer(False, " ".join(str(error).split()))

    # ------------------------------------------------------------------ the game

    def _quit(self, *_: str) -> str:
        self.has_quit = True
        return ""

    def _set_game(self, *words: str) -> str:
        if " ".join(words).lower() != title_of(self.game).lower():
            raise CommandError("unknown game")
        return self._clear_board()

    def _boardsize(self, size: str, *_: str) -> str:
        (number,) = whole_numbers(size)
        parts = parts_of_game_name(self.game.name)
        kept = {name: value for name, value in parts.parameters.items() if name not in self.game.counting_parameters}
        told = {} if self._komi is None else {"komi": self._komi}
        try:
            same = number == self.match.vertices.size
            game = self.game if same else make_game(name_of_board(parts.base, number, kept | told))
        except SettingError:
            raise CommandError("unacceptable size") from None
        self._remake(game)
        return ""

    def _set_komi(self, points: str, *_: str) -> str:
        (number,) = numbers_of(points)
        if self.game.komi is not None:
            self._remake(make_game(self.game.name, komi=number), keep=True)
            self._komi = number
        return ""

    def _remake(self, game: Game, *, keep: bool = False) -> None:
        """Go on with another board or komi. The player is made first, because it may not exist there."""
        if game.rules != self.game.rules:
            self.player = self._make(game)
            self.match.remake(game, keep=keep)
        elif not keep:
            self.match.clear()

    def _clear_board(self, *_: str) -> str:
        self.match.clear()
        return ""

    # ------------------------------------------------------------------ moves

    def _play(self, colour: str, vertex: str, *_: str) -> str:
        try:
            self.match.take(seat_of(colour), self.match.vertices.action(vertex))
        except (IllegalActionError, NotNowError):
            raise CommandError("illegal move") from None
        return ""

    def _genmove(self, colour: str, *_: str) -> str:
        start = monotonic()
        vertex, action = self._choose(colour)
        self.match.take(seat_of(colour), action)
        self._clock.spend(seat_of(colour), start)
        return vertex

    def _genmove_cleanup(self, colour: str, *_: str) -> str:
        """A move after both have passed, until no dead stone is left."""
        if not self.match.session.is_over:
            return self._genmove(colour)
        end = self.match.now()
        self.match.continue_with(seat_of(colour))
        vertex, action = self._choose(colour)
        self.match.go_to(end)
        self.match.take(seat_of(colour), action)
        return vertex

    def _choose(self, colour: str) -> tuple[str, int | None]:
        """The choice of the player when it plays `colour`, as a vertex and as an action; a pass after the end."""
        seat, vertices = seat_of(colour), self.match.vertices
        with Deadline(self._clock.seconds_for_move(seat)).applied():
            action = self.match.choice(seat, self.player)
        return (PASS, vertices.pass_action) if action is None else (vertices.text(action), action)

    def _analyse(self, name: str, *arguments: str) -> str:
        """Begin an analysis, which starts after this line and ends before the next one."""
        request, session, vertices = read_request(arguments), self.match.session, self.match.vertices
        plies = len(session.plies)
        if request.colour is not None:
            self.match.give_turn_to(seat_of(request.colour))
        if not session.is_over:
            form = partial(FORMS[name], vertices=vertices)
            self.background = Analysis(self.player, session, request.seconds, form)
        session.rewind(plies)
        return ""

    def _undo(self, *_: str) -> str:
        self.match.undo()
        return ""

    def _time_settings(self, main: str, period: str, stones: str, *_: str) -> str:
        seconds, periods, number = numbers_of(main, period, stones)
        self._clock.set(seconds, periods, int(number))
        return ""

    def _time_left(self, colour: str, time: str, stones: str, *_: str) -> str:
        seat, (seconds, number) = seat_of(colour), numbers_of(time, stones)
        self._clock.tell(seat, seconds, int(number))
        return ""


def make_engine(settings: GtpSettings) -> GtpEngine:
    """The engine that `settings` describe. Raises as `make_player` and `GtpEngine`."""
    return GtpEngine(make_game(settings.game.name), maker_of(settings), key_of(settings), settings.rows)
