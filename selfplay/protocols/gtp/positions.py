"""The GTP commands about positions: handicap stones, files of matches, boards and results."""

from collections.abc import Callable, Sequence
from typing import Protocol

from selfplay.errors import IllegalActionError
from selfplay.files import user_path, written_whole
from selfplay.games import Game
from selfplay.games.dead_stones import dead_stones
from selfplay.games.match import Match
from selfplay.names_of_games import parts_of_game_name
from selfplay.protocols.commands import CommandError, is_whole_number, whole_numbers
from selfplay.protocols.gtp.handicap import handicap_squares
from selfplay.protocols.gtp.notation import Vertices, colour_of, seat_of
from selfplay.records import Record, read_record_file, record_of, written_record

ANALYZE_COMMANDS = (
    "string/Score/final_score",
    "plist/Dead stones/final_status_list dead",
    "move/Best move/reg_genmove %c",
)
"""What GoGui offers in its menu: the kind of the answer, the name, and the command."""


class HoldsMatch(Protocol):
    """An engine that plays one match."""

    match: Match
    vertices: Vertices
    loaded: Record | None
    """The record from which the match was read, if it was."""

    @property
    def game(self) -> Game:
        """The game of the match."""

    def begin(self, match: Match) -> None:
        """Begin the next match as this one, perhaps of another board or komi."""


class PositionCommands:
    """The commands by name, each with the number of arguments that it needs.

    Args:
        engine: whose match it is.
        key: the stream of random numbers that find dead stones.
    """

    def __init__(self, engine: HoldsMatch, key: int) -> None:
        self.engine, self._key = engine, key
        self.commands: dict[str, tuple[int, Callable[..., str]]] = {
            "final_score": (0, self._final_score),
            "final_status_list": (1, self._final_status_list),
            "showboard": (0, self._showboard),
            "loadsgf": (1, self._load),
            "printsgf": (0, self._print),
            "gogui-analyze_commands": (0, lambda *_: "\n".join(ANALYZE_COMMANDS)),
        }
        if engine.game.can_be_set_up:
            self.commands |= {"gogui-setup": (2, self._set_up), "gogui-setup_player": (1, self._set_up_player)}
        if engine.game.komi is not None:
            self.commands |= {
                "fixed_handicap": (1, self._fixed_handicap),
                "place_free_handicap": (1, self._place_free_handicap),
                "set_free_handicap": (2, self._set_free_handicap),
            }

    @property
    def game(self) -> Game:
        return self.engine.game

    def _fixed_handicap(self, number: str, *_: str) -> str:
        (stones,) = whole_numbers(number)
        try:
            return self._place(handicap_squares(stones, self.engine.vertices.size))
        except ValueError as error:
            raise CommandError(str(error)) from None

    def _place_free_handicap(self, number: str, *_: str) -> str:
        """As many of the fixed points as there are: the protocol lets an engine place fewer stones."""
        (stones,) = whole_numbers(number)
        for count in range(stones, 1, -1):
            try:
                return self._place(handicap_squares(count, self.engine.vertices.size))
            except ValueError:
                continue
        raise CommandError("invalid number of stones")

    def _set_free_handicap(self, *vertices: str) -> str:
        try:
            squares = [self.engine.vertices.action(vertex) for vertex in vertices]
        except IllegalActionError:
            raise CommandError("bad vertex list") from None
        if len(set(squares)) < len(squares) or self.engine.vertices.pass_action in squares:
            raise CommandError("bad vertex list")
        self._place(squares)
        return ""

    def _place(self, squares: Sequence[int]) -> str:
        """Begin the match with these black stones; returns their vertices."""
        if self.engine.match.actions or bool(self.game.squares(self.engine.match.state).any()):
            raise CommandError("board not empty")
        stones = [int(square in squares) for square in range(self.engine.vertices.size**2)]
        self.engine.begin(Match(self.game, self.game.set_up(stones, to_move=1)))
        return " ".join(map(self.engine.vertices.text, squares))

    def _set_up(self, *words: str) -> str:
        """Begin the match with these stones, such as b C3 w D4; black is to move, or white where black cannot be."""
        if len(words) % 2:
            raise CommandError("syntax error")
        squares = [0] * self.engine.vertices.size**2
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            action = self.engine.vertices.action(vertex)
            if action == self.engine.vertices.pass_action:
                raise CommandError("syntax error")
            squares[action] = 1 - 2 * seat_of(colour)
        try:
            start = self.game.set_up(squares, to_move=0)
        except IllegalActionError:
            start = self.game.set_up(squares, to_move=1)
        self.engine.begin(Match(self.game, start))
        return ""

    def _set_up_player(self, colour: str, *_: str) -> str:
        """The colour that moves first in the position that was set up."""
        squares = self.game.squares(self.engine.match.state)[0].tolist()
        self.engine.begin(Match(self.game, self.game.set_up(squares, seat_of(colour))))
        return ""

    # ------------------------------------------------------------------ files and results

    def _load(self, *words: str) -> str:
        """The match of a file, or its part before the move with this number. The protocol does not quote names, so all
        words are the name of a file if there is such a file, or if the last one is not a number."""
        path, before = user_path(" ".join(words)), ""
        if len(words) > 1 and is_whole_number(words[-1]) and not path.exists():
            path, before = user_path(" ".join(words[:-1])), words[-1]
        record = read_record_file(path, self.game)
        if parts_of_game_name(record.game.name).base != parts_of_game_name(self.game.name).base:
            raise CommandError("cannot load file")
        plies = len(record.match.actions)
        if before:
            plies = min(plies, max(0, whole_numbers(before)[0] - 1))
        self.engine.begin(record.match.before(plies))
        self.engine.loaded = record
        return ""

    def _print(self, *words: str) -> str:
        """The match as SGF, written to a file if one is named, in a folder that exists."""
        match, loaded = self.engine.match, self.engine.loaded
        players = ("", "") if loaded is None or not match.continues(loaded.match) else loaded.players
        text = written_record(record_of(match, players, loaded), "sgf").text
        if not words:
            return text
        path = user_path(" ".join(words))
        if not path.parent.is_dir():
            raise CommandError(f"cannot write {path}: there is no folder {path.parent}")
        with written_whole(path) as part:
            part.write_text(text, encoding="utf-8")
        return ""

    def _showboard(self, *_: str) -> str:
        """The board as the game draws it, with the protocol's names of columns."""
        presentation = self.game.presentation
        heading, *rows = presentation.board_text(self.engine.match.state).splitlines()
        names, letters = presentation.column_names, self.engine.vertices.columns
        letters = letters.lower() if names.islower() else letters
        return "\n".join([heading.translate(str.maketrans(names, letters[: len(names)])), *rows])

    def _final_score(self, *_: str) -> str:
        state = self.engine.match.state
        if not bool(state.terminated) and self.game.rules.owned is None:
            raise CommandError("cannot score")
        points = float(self.game.score(state))
        return f"{colour_of(0 if points > 0 else 1)}+{abs(points):g}" if points else "0"

    def _final_status_list(self, status: str, *_: str) -> str:
        """The stones that are dead in Go by `dead_stones`, or the other ones; no seki is recognised."""
        state, wanted = self.engine.match.state, status.lower()
        if wanted not in ("alive", "dead", "seki"):
            raise CommandError("syntax error")
        if wanted == "seki":
            return ""
        can_be_dead = self.game.rules.safe is not None
        dead = dead_stones(self.game, state, self._key) if can_be_dead else []
        stones = self.game.squares(state)[0].nonzero()[:, 0].tolist()
        shown = dead if wanted == "dead" else [stone for stone in stones if stone not in dead]
        return "\n".join(map(self.engine.vertices.text, shown))
