"""A player as an engine of the Go Text Protocol (GTP), which answers the commands of a controller."""

from collections.abc import Callable
from functools import partial
from math import inf
from time import monotonic, process_time

from selfplay.engines.clock import Clock
from selfplay.engines.commands import CommandError, numbers_of, whole_numbers
from selfplay.engines.gtp import PASS, Answer, Command, colour_of, read_command, seat_of, title_of
from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError, SettingError
from selfplay.games import Game, make_game, name_of_board
from selfplay.installation import __version__
from selfplay.players.player import Player
from selfplay.playing.gtp_analysis import FORMS, Analysis, moves_by_values, read_request
from selfplay.playing.gtp_match import GtpMatch
from selfplay.playing.gtp_positions import PositionCommands
from selfplay.playing.line_engine import LineEngine, key_of, maker_of
from selfplay.registry import parts_of_game_name
from selfplay.search.deadline import LEAST_SECONDS, Deadline
from selfplay.settings.playing import GtpSettings

RESIGN = "resign"
RESIGNS_AFTER = 3
"""The number of moves in a row in which a player expects to lose before it resigns."""
TIME_SYSTEMS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3, "fischer": 2}
"""The systems of kgs-time_settings and kata-time_settings, and how many numbers each has."""


class GtpEngine(LineEngine):
    """A player that moves at the command of a controller, one match at a time.

    Args:
        make: makes the player for a game, again when the controller chooses another board or komi.
        key, rows: as for `GtpMatch`.
        resign: the player resigns when it has expected less than this, from -1 to 1, in RESIGNS_AFTER moves in a row;
            None: never.

    Raises SettingError if the protocol cannot express the game's actions.
    """

    def __init__(
        self,
        game: Game,
        make: Callable[[Game], Player],
        key: int,
        rows: str = "board",
        resign: float | None = None,
    ) -> None:
        self.match, self._make = GtpMatch(game, key, rows), make
        self._player: Player | None = None
        self._komi: float | None = None
        self._clock, self._resign, self._lost = Clock(), resign, [0, 0]
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
            "kgs-time_settings": (1, self._time_settings_by_name),
            "kata-time_settings": (1, self._time_settings_by_name),
            "kata-list_time_settings": (0, lambda *_: " ".join(TIME_SYSTEMS)),
            "time_left": (3, self._time_left),
            "cputime": (0, lambda *_: f"{process_time():.3f}"),
        }
        self._commands |= {name: (0, partial(self._analyse, name)) for name in FORMS}
        names = {name: f"{name.partition('-')[0]}-genmove_analyze" for name in FORMS}
        self._commands |= {new: (0, partial(self._genmove_analyze, name)) for name, new in names.items()}
        self._commands |= PositionCommands(self.match, self._remake).commands
        if game.komi is not None:
            self._commands["kgs-genmove_cleanup"] = (1, self._genmove_cleanup)

    @property
    def game(self) -> Game:
        return self.match.game

    @property
    def player(self) -> Player:
        """Made when it is first needed: most controllers choose the board first, for which it may be another one."""
        if self._player is None:
            self._player = self._make(self.game)
        return self._player

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
        self._player = self.player  # made before the match begins
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
            self._player = self._make(game)
            self.match.remake(game, keep=keep)
        elif not keep:
            self.match.clear()

    def _clear_board(self, *_: str) -> str:
        self._player = self.player  # made before the match begins
        self.match.clear()
        self._lost = [0, 0]
        return ""

    # ------------------------------------------------------------------ moves

    def _play(self, colour: str, vertex: str, *_: str) -> str:
        try:
            self.match.take(seat_of(colour), self.match.vertices.action(vertex))
        except (IllegalActionError, NotNowError):
            raise CommandError("illegal move") from None
        return ""

    def _genmove(self, colour: str, *_: str) -> str:
        start, seat = monotonic(), seat_of(colour)
        try:
            vertex, action = self._choose(colour)
            if self._gives_up(seat):
                return RESIGN
            self.match.take(seat, action)
            return vertex
        finally:
            self._clock.spend(seat, start)

    def _gives_up(self, seat: int) -> bool:
        if self._resign is None or self.match.session.is_over:
            return False
        with self._deadline(seat).applied():
            is_lost = self.match.expects(seat, self.player) < self._resign
        self._lost[seat] = self._lost[seat] + 1 if is_lost else 0
        return self._lost[seat] >= RESIGNS_AFTER

    def _genmove_analyze(self, name: str, *arguments: str) -> str:
        """Move, and say what the player expected of the moves, as at the end of an analysis."""
        colour = read_request(arguments).colour or colour_of(self.match.session.to_move)
        start, seat, session, plies = monotonic(), seat_of(colour), self.match.session, len(self.match.session.plies)
        with self._deadline(seat).applied():
            self.match.give_turn_to(seat)
            moves = [] if session.is_over else moves_by_values(self.player, session.state, session.draws)
            session.rewind(plies)
        self._clock.spend(seat, start)
        report = f"{FORMS[name](moves, self.match.vertices)}\n" if moves else ""
        return f"{report}play {self._genmove(colour)}"

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
        with self._deadline(seat).applied():
            action = self.match.choice(seat, self.player)
        return (PASS, vertices.pass_action) if action is None else (vertices.text(action), action)

    def _deadline(self, seat: int) -> Deadline:
        """When the next move of `seat` must be made; stones may still fill the board."""
        empty = int((self.game.squares(self.match.session.state) == 0).sum())
        seconds = self._clock.seconds_for_move(seat, empty / 2)
        return Deadline(None if seconds is None else max(LEAST_SECONDS, seconds))

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

    def _time_settings_by_name(self, system: str, *numbers: str) -> str:
        """The time by the name of its system: byoyomi, whose periods are of one move, canadian, absolute, fischer."""
        seconds = numbers_of(*numbers)
        if len(seconds) != TIME_SYSTEMS.get(system, -1):
            raise CommandError("syntax error")
        main, period, count = (*seconds, *[0.0] * 3)[:3]
        increment, stones = (period, 0) if system == "fischer" else (0.0, 1 if system == "byoyomi" else int(count))
        self._clock.set(inf if system == "none" else main, 0.0 if increment else period, stones, increment)
        return ""

    def _time_left(self, colour: str, time: str, stones: str, *_: str) -> str:
        seat, (seconds, number) = seat_of(colour), numbers_of(time, stones)
        self._clock.tell(seat, seconds, int(number))
        return ""


def make_engine(settings: GtpSettings) -> GtpEngine:
    """The engine that `settings` describe. Raises as `make_player` and `GtpEngine`."""
    make, key = maker_of(settings), key_of(settings)
    return GtpEngine(make_game(settings.game.name), make, key, settings.rows, settings.resign)
