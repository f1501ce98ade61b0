"""A player as an engine of the Go Text Protocol (GTP), which answers the commands of a controller."""

import math
from collections.abc import Callable, Iterable
from time import monotonic

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError
from selfplay.games import Game, make_game
from selfplay.gtp.clock import Clock
from selfplay.gtp.protocol import COLOURS, COLUMNS, PASS, Answer, Command, Vertices, colour_of, read_command, title_of
from selfplay.installation import __version__
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.playing.open_session import usual_player
from selfplay.playing.session import Session
from selfplay.runs.run_folder import RunFolder
from selfplay.search.deadline import Deadline
from selfplay.settings.playing import GtpSettings


class CommandError(Exception):
    """A command that cannot be carried out; its message is the answer."""


class Engine:
    """A player that moves at the command of a controller, one match at a time.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        rows: as for `Vertices`.

    Raises SettingError if the protocol cannot express the game's actions.
    """

    def __init__(self, game: Game, player: Player, key: int, rows: str = "board") -> None:
        self.game, self.player = game, player
        self.vertices = Vertices(game, rows)
        # The controller plays both colours, and asks the player which action to play.
        self.session = Session(game, (None, None), key)
        self._plies_before: list[int] = []
        self._clock = Clock()
        self.has_quit = False
        # By name: the number of arguments (further ones are ignored), and the function that returns the text of the
        # answer.
        self._commands: dict[str, tuple[int, Callable[..., str]]] = {
            "protocol_version": (0, lambda: "2"),
            "name": (0, lambda: f"selfplay {player.name}"),
            "version": (0, lambda: __version__),
            "known_command": (1, lambda name: str(name in self._commands).lower()),
            "list_commands": (0, lambda: "\n".join(self._commands)),
            "quit": (0, self._quit),
            "list_games": (0, lambda: title_of(game)),
            "set_game": (1, self._set_game),
            "boardsize": (1, self._boardsize),
            "clear_board": (0, self._clear_board),
            "komi": (1, self._komi),
            "get_komi": (0, lambda: f"{game.komi or 0:g}"),
            "play": (2, self._play),
            "genmove": (1, self._genmove),
            "reg_genmove": (1, lambda colour: self._choose(colour)[0]),
            "undo": (0, self._undo),
            "time_settings": (3, self._time_settings),
            "time_left": (3, self._time_left),
            "final_score": (0, self._final_score),
            "showboard": (0, self._showboard),
        }

    def answer(self, line: str) -> str:
        """The text of the answer to a line; empty if the line does not contain a command."""
        try:
            command = read_command(line)
        except ValueError as error:
            return Answer(False, str(error)).written()
        return "" if command is None else self._answer(command).written(command.number)

    def _answer(self, command: Command) -> Answer:
        if command.name not in self._commands:
            return Answer(False, "unknown command")
        needed, run = self._commands[command.name]
        if len(command.arguments) < needed:
            return Answer(False, "syntax error")
        try:
            # The name of a game may have several words.
            return Answer(True, run(*command.arguments[: needed if command.name != "set_game" else None]))
        except (CommandError, SelfPlayError) as error:
            return Answer(False, " ".join(str(error).split()))

    # ------------------------------------------------------------------ the match

    def _quit(self) -> str:
        self.has_quit = True
        return ""

    def _set_game(self, *words: str) -> str:
        if " ".join(words).lower() != title_of(self.game).lower():
            raise CommandError("unknown game")
        return self._clear_board()

    def _boardsize(self, size: str) -> str:
        if not (size.isascii() and size.isdigit()):
            raise CommandError("syntax error")
        if size.lstrip("0") != str(self.vertices.size):
            raise CommandError("unacceptable size")
        return self._clear_board()

    def _clear_board(self) -> str:
        self.session.new_match()
        self._plies_before.clear()
        return ""

    def _play(self, colour: str, vertex: str) -> str:
        try:
            self._take(_seat(colour), self.vertices.action(vertex))
        except (IllegalActionError, NotNowError):
            raise CommandError("illegal move") from None
        return ""

    def _genmove(self, colour: str) -> str:
        start = monotonic()
        vertex, action = self._choose(colour)
        self._take(_seat(colour), action)
        self._clock.spend(_seat(colour), start)
        return vertex

    def _choose(self, colour: str) -> tuple[str, int | None]:
        """The choice of the player when it plays `colour`, as a vertex and as an action; a pass after the end."""
        plies = len(self.session.plies)
        self._give_turn_to(_seat(colour))
        try:
            if self.session.is_over:
                return PASS, self.vertices.pass_action
            with Deadline(self._clock.seconds_for_move(_seat(colour))).applied():
                action = self.session.choice_of(self.player)
        finally:
            self.session.rewind(plies)
        return self.vertices.text(action), action

    def _take(self, seat: int, action: int | None) -> None:
        """Play an action of `seat`. Passes after the end have no effect; in a game without passes, None is a pass.

        Raises IllegalActionError if it is not legal, and NotNowError if it is the opponent's turn.
        """
        plies = len(self.session.plies)
        self._give_turn_to(seat)
        try:
            if self.session.is_over or action is None:
                if action != self.vertices.pass_action:
                    raise IllegalActionError("the match is over")
            elif self.session.can_only_pass and action == self.game.pass_action:
                self.session.advance()
            else:
                self.session.play(action)
        except (IllegalActionError, NotNowError):
            self.session.rewind(plies)
            raise
        self._plies_before.append(plies)

    def _give_turn_to(self, seat: int) -> None:
        """Let the opponent of `seat` pass if it is its turn. Raises NotNowError if it cannot pass."""
        session, passing = self.session, self.vertices.pass_action
        if session.is_over or session.to_move == seat:
            return
        if session.can_only_pass:
            session.advance()
        elif passing in session.legal_actions:
            session.play(passing)
        else:
            raise NotNowError("it is the other colour's turn")

    def _undo(self) -> str:
        if not self._plies_before:
            raise CommandError("cannot undo")
        self.session.rewind(self._plies_before.pop())
        return ""

    def _komi(self, points: str) -> str:
        (number,) = _numbers(points)
        if self.game.komi is not None and number != self.game.komi:
            raise CommandError(f"unacceptable komi: the game has {self.game.komi:g}")
        return ""

    def _time_settings(self, main: str, period: str, stones: str) -> str:
        seconds, periods, number = _numbers(main, period, stones)
        self._clock.set(seconds, periods, int(number))
        return ""

    def _time_left(self, colour: str, time: str, stones: str) -> str:
        seat, (seconds, number) = _seat(colour), _numbers(time, stones)
        self._clock.tell(seat, seconds, int(number))
        return ""

    def _showboard(self) -> str:
        """The board as the game draws it, with the protocol's names of columns."""
        presentation = self.game.presentation
        heading, *rows = presentation.board_text(self.session.state).splitlines()
        names = presentation.column_names
        letters = COLUMNS.lower() if names.islower() else COLUMNS
        return "\n".join([heading.translate(str.maketrans(names, letters[: len(names)])), *rows])

    def _final_score(self) -> str:
        state = self.session.state
        if not bool(state.terminated):
            raise CommandError("cannot score")
        points = float(self.game.score(state))
        return f"{colour_of(0 if points > 0 else 1)}+{abs(points):g}" if points else "0"


def _seat(colour: str) -> int:
    """The seat of a colour. Raises CommandError if it is not a colour."""
    if colour.lower() not in COLOURS:
        raise CommandError("syntax error")
    return COLOURS[colour.lower()]


def _numbers(*texts: str) -> list[float]:
    """The numbers that `texts` write. Raises CommandError if one is not a number, or not finite."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise CommandError("syntax error") from None
    if not all(map(math.isfinite, numbers)):
        raise CommandError("syntax error")
    return numbers


def answer_lines(engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
    """Answer the lines until the last one or the command quit."""
    for line in lines:
        if answer := engine.answer(line):
            write(answer)
        if engine.has_quit:
            return


def make_engine(settings: GtpSettings) -> Engine:
    """The engine that `settings` describe. Raises as `make_player` and `Engine`."""
    game = make_game(settings.game.name)
    name = settings.player or usual_player(game, RunFolder.of(settings))
    player = make_player(name, game, settings.run_dir)
    return Engine(game, player, stream_key(settings.seed, 0, Activity.VERSUS_PERSON), settings.rows)
