"""A player as an engine of the Go Text Protocol (GTP), which answers the commands of a controller."""

from collections.abc import Callable
from functools import partial
from math import inf, nan
from time import monotonic, process_time

from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError, SettingError
from selfplay.games import Game, make_game, name_of_board
from selfplay.games.match import Match
from selfplay.installation import __version__
from selfplay.names_of_games import parts_of_game_name
from selfplay.players.capabilities import GrowsTrees, capability
from selfplay.players.player import ActionValues, Player
from selfplay.protocols.clock import Clock
from selfplay.protocols.commands import CommandError, numbers_of, whole_numbers
from selfplay.protocols.gtp.analysis import FORMS, Move, RunningAnalysis, move_played, moves_by_values, read_request
from selfplay.protocols.gtp.notation import PASS, Answer, Command, Vertices, colour_of, read_command, seat_of, title_of
from selfplay.protocols.gtp.positions import PositionCommands
from selfplay.protocols.gtp.turns import continued_by, played_by, with_parameters_of, with_turn_of
from selfplay.protocols.line_engine import LineEngine
from selfplay.records import Record
from selfplay.search.deadline import Deadline

RESIGN = "resign"
RESIGNS_AFTER = 3
"""The number of moves in a row in which a player expects to lose before it resigns."""
TIME_SYSTEMS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3, "fischer": 2}
"""The systems of kgs-time_settings and kata-time_settings, and how many numbers each has."""


class GtpEngine(LineEngine):
    """A player that moves at the command of a controller, one match at a time.

    Args:
        game, make, key: as for `LineEngine`.
        rows: as for `Vertices`.
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
        super().__init__(game, make, key)
        self.vertices, self._rows, self._before = Vertices(game, rows), rows, list[Match]()
        self._komi: float | None = None
        self._clock, self._resign, self._lost = Clock(), resign, [0, 0]
        self.loaded: Record | None = None
        # By name: the number of arguments that are needed, and the function that returns the text of the answer.
        # Those that it does not take are ignored.
        self._commands: dict[str, tuple[int, Callable[..., str]]] = {
            "protocol_version": (0, lambda *_: "2"),
            "name": (0, lambda *_: f"selfplay {self.player.name}"),
            "version": (0, lambda *_: __version__),
            "known_command": (1, lambda name, *_: str(name in self._commands).lower()),
            "list_commands": (0, lambda *_: "\n".join(self._commands)),
            "quit": (0, lambda *_: "".join(self.quit())),
            "list_games": (0, lambda *_: title_of(self.game)),
            "set_game": (1, self._set_game),
            "boardsize": (1, self._boardsize),
            "clear_board": (0, self._clear_board),
            "komi": (1, self._set_komi),
            "get_komi": (0, lambda *_: f"{self.game.komi or 0:g}"),
            "play": (2, self._play),
            "genmove": (1, self._genmove),
            "reg_genmove": (1, self._regression_move),
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
        self._commands |= PositionCommands(self, key).commands
        if game.komi is not None:
            self._commands["kgs-genmove_cleanup"] = (1, self._genmove_cleanup)

    def begin(self, match: Match) -> None:
        """Begin the next match as this one, whose actions can be undone one by one."""
        super().begin(match)
        self._clock.restart()
        self._lost, self.loaded = [0, 0], None
        self.vertices = Vertices(match.game, self._rows)
        self._before = [match.before(ply) for ply in range(len(match.actions))]

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

    def _set_game(self, *words: str) -> str:
        if " ".join(words).lower() != title_of(self.game).lower():
            raise CommandError("unknown game")
        return self._clear_board()

    def _boardsize(self, size: str, *_: str) -> str:
        (number,) = whole_numbers(size)
        parts = parts_of_game_name(self.game.name)
        kept = {name: value for name, value in parts.parameters.items() if name != "komi"}
        told = {} if self._komi is None else {"komi": self._komi}
        try:
            same = number == self.vertices.size
            game = self.game if same else make_game(name_of_board(parts.base, number, kept | told))
        except SettingError:
            raise CommandError("unacceptable size") from None
        self.begin(Match(game))
        self._player = self.player  # made before the match begins
        return ""

    def _set_komi(self, points: str, *_: str) -> str:
        (number,) = numbers_of(points)
        if self.game.komi is not None:
            self._change_komi(make_game(self.game.name, komi=number))
            self._komi = number
        return ""

    def _change_komi(self, game: Game) -> None:
        """Go on with another komi, in which all positions of the match must be legal, too."""
        if game.rules == self.game.rules:
            return
        old, player = self.match, self._make(game)
        now = with_parameters_of(old, game)
        self._before = [
            now.before(len(one.actions)) if old.continues(one) else with_parameters_of(one, game)
            for one in self._before
        ]
        self.match, self._player, self.vertices = now, player, Vertices(game, self._rows)

    def _clear_board(self, *_: str) -> str:
        self._player = self.player  # made before the match begins
        self.begin(Match(self.game))
        return ""

    # ------------------------------------------------------------------ moves

    def _play(self, colour: str, vertex: str, *_: str) -> str:
        try:
            self._take(seat_of(colour), self.vertices.action(vertex))
        except (IllegalActionError, NotNowError):
            raise CommandError("illegal move") from None
        return ""

    def _take(self, seat: int, action: int | None) -> None:
        """Play an action of a seat, which can be undone. Raises as `played_by`."""
        following = played_by(self.match, seat, action)
        self._before.append(self.match)
        self.match = following

    def _genmove(self, colour: str, *_: str) -> str:
        return self._moved(seat_of(colour))[0]

    def _genmove_analyze(self, name: str, *arguments: str) -> str:
        """Move, and say what the player expected of the moves, as at the end of an analysis."""
        colour = read_request(arguments).colour or colour_of(self.match.to_move)
        vertex, moves = self._moved(seat_of(colour), is_reported=True)
        report = f"{FORMS[name](moves, self.vertices)}\n" if moves else ""
        return f"{report}play {vertex}"

    def _moved(self, seat: int, *, is_reported: bool = False) -> tuple[str, list[Move]]:
        """Move within the time for it, or resign. Returns the vertex, and with `is_reported` what the player expected
        of the moves."""
        start, seconds = monotonic(), self._seconds_for_move(seat)
        try:
            match = with_turn_of(self.match, seat)
            is_valued = (is_reported or self._resign is not None) and not match.is_over
            found = self._values(match, seconds) if is_valued else None
            if is_valued and self._gives_up(seat, found):
                return RESIGN, []
            left = None if seconds is None else max(0.0, seconds - (monotonic() - start))
            vertex, action = self._choose(seat, left)
            self._take(seat, action)
            if not is_reported or action is None or match.is_over:
                return vertex, []
            return vertex, moves_by_values(found) or [move_played(action)]
        finally:
            self._clock.spend(seat, start)

    def _values(self, match: Match, seconds: float | None) -> ActionValues | None:
        """What the player expects of its actions, in half of the time for the move, unless its move comes from the same
        search."""
        is_same = capability(self.player, GrowsTrees) is not None
        given = self.search_seconds(seconds)
        with Deadline(given if given is None or is_same else given / 2).applied():
            return self.player.value_actions(match.state, self.draws(match))

    def _gives_up(self, seat: int, found: ActionValues | None) -> bool:
        if self._resign is None:
            return False
        self._lost[seat] = self._lost[seat] + 1 if _expected(found) < self._resign else 0
        return self._lost[seat] >= RESIGNS_AFTER

    def _genmove_cleanup(self, colour: str, *_: str) -> str:
        """A move after both have passed, until no dead stone is left."""
        if not self.match.is_over:
            return self._genmove(colour)
        seat = seat_of(colour)
        vertex, action = self._choose(seat, self._seconds_for_move(seat), continued_by(self.match, seat))
        self._take(seat, action)
        return vertex

    def _choose(self, seat: int, seconds: float | None, match: Match | None = None) -> tuple[str, int | None]:
        """The choice of the player in this time for `seat` in a match (None: the current one), as a vertex and as an
        action; a pass after the end."""
        match = with_turn_of(match or self.match, seat)
        if match.is_over:
            return PASS, self.vertices.pass_action
        action = self.choice(match, seconds)
        return self.vertices.text(action), action

    def _regression_move(self, colour: str, *_: str) -> str:
        """The move that the player would make."""
        seat = seat_of(colour)
        return self._choose(seat, self._seconds_for_move(seat))[0]

    def _seconds_for_move(self, seat: int) -> float | None:
        """The time for the next move of `seat`; stones may still fill the board. None without a limit."""
        empty = int((self.game.squares(self.match.state) == 0).sum())
        return self._clock.seconds_for_move(seat, empty / 2, self.lag)

    def _analyse(self, name: str, *arguments: str) -> str:
        """Begin an analysis, which starts after this line and ends before the next one."""
        request, match = read_request(arguments), self.match
        if request.colour is not None:
            match = with_turn_of(match, seat_of(request.colour))
        if not match.is_over:
            form = partial(FORMS[name], vertices=self.vertices)
            self.background = RunningAnalysis(self.player, match, self.draws(match), request.seconds, form)
        return ""

    def _undo(self, *_: str) -> str:
        if not self._before:
            raise CommandError("cannot undo")
        self.match = self._before.pop()
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
        increment = period if system == "fischer" else 0.0
        is_byoyomi = system == "byoyomi"
        stones = 1 if is_byoyomi else int(count)
        whole = inf if system == "none" else main
        self._clock.set(whole, 0.0 if increment else period, stones, increment, counts_periods=is_byoyomi)
        return ""

    def _time_left(self, colour: str, time: str, stones: str, *_: str) -> str:
        seat, (seconds, number) = seat_of(colour), numbers_of(time, stones)
        self._clock.tell(seat, seconds, int(number))
        return ""


def _expected(found: ActionValues | None) -> float:
    """What a player expects of its best action, from -1 to 1; nan if it does not say so."""
    if found is None or found.points_per_value is not None or bool(found.values.isnan().all()):
        return nan
    return float(found.values.nan_to_num(nan=-inf).max()) - found.neutral
