"""Matches as texts in the formats of other programs: SGF, GGF, and the moves alone.

    record = read_record(text, game)  # the format is recognised; `game` is used for what the text does not say
    ending, text = written_record(record_of(match))

A format is one object (`RecordFormat`), with a line in `FORMATS`. Another package offers one as an entry point of the
group `selfplay.records`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from selfplay.errors import IllegalActionError, InvalidFileError, OtherGameError, SelfPlayError, SettingError, shortened
from selfplay.files import read_bytes
from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.games.state import State
from selfplay.records.charset import decoded
from selfplay.records.written import WrittenMatch
from selfplay.registry import Registry

NO_MATCH = "the text holds no match"
RESIGNED = "R"
"""`RecordedResult.by` of a match that a player has given up."""
GIVEN_UP = "F"
"""`RecordedResult.by` of a match that a player has forfeited."""


class RecordedResult(NamedTuple):
    """How a match ended."""

    returned: int
    """The return of player 0: 1, 0 or -1."""
    by: str = ""
    """The points of the winner, such as 3.5, or another reason, such as R for resigning; empty if it is not known."""


class Record(NamedTuple):
    """A match from a text, or for one, and what else is said of it."""

    match: Match
    players: tuple[str, str] = ("", "")
    """The names of those who moved first and second; empty if they are not known."""
    result: RecordedResult | None = None
    """None if it is not over, or not known."""
    comments: Mapping[int, str] = MappingProxyType({})
    """Comments on the positions, by the number of plies before them."""
    variations: int = 0
    """The number of other lines of play in the text, which are left out."""
    broken: str = ""
    """Why the match ends before the text does: a move that cannot be played; empty: it does not."""
    said: RecordedResult | None = None
    """The result that a text says, which may be another one than that of the rules; None if it says none."""

    @property
    def game(self) -> Game:
        """The game of the match."""
        return self.match.game


class WrittenRecord(NamedTuple):
    """A match written as a file."""

    ending: str
    """The ending of its name, such as ".txt"."""
    text: str


class RecordFormat(Protocol):
    """A format of matches.

    One that writes the comments of a record has an attribute `writes_comments` that is true.
    """

    def is_written_in(self, text: str) -> bool:
        """Whether a text is in this format, by its first characters."""

    def fits(self, game: Game) -> bool:
        """Whether matches of this game can be written."""

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        """The matches of a text, each up to the first move that cannot be played (`Record.broken`).

        Args:
            game: used for what the text does not say, such as the komi.
            start: where the matches begin if the text does not say it; None: at the start of the game.

        A match with a result has it in `Record.said`, and in `Record.result` what `decided_result` makes of it.

        Raises IllegalActionError if the text is broken before the first move, and SettingError if it needs a game.
        """

    def split(self, text: str) -> list[str]:
        """The text of each match of a file of many, which may be broken."""

    def written(self, text: str, game: Game) -> WrittenMatch:
        """One match of such a file, whose moves are not checked against the rules.

        Raises IllegalActionError if the text is broken, or of another game or board.
        """

    def write(self, record: Record) -> str:
        """The match as a text."""


FORMATS = Registry[RecordFormat](
    "format of records",
    {
        "pgn": "selfplay.records.tagged:PGN",
        "txt": "selfplay.records.moves:TRANSCRIPT",
        "pdn": "selfplay.records.tagged:PDN",
        "sgf": "selfplay.records.sgf:SGF",
        "ggf": "selfplay.records.moves:GGF",
    },
    "selfplay.records",
    attributes=["is_written_in", "fits", "read", "split", "written", "write"],
)
"""By the ending of file names. The first one that recognises a text reads it; the last one that fits a game writes."""


def read_records(text: str, game: Game | None = None, start: State | None = None, ending: str = "") -> list[Record]:
    """The matches of a text. `ending`: of the name of its file. Other arguments and errors: see `RecordFormat.read`."""
    with refusing_all():
        return format_of_text(text, ending).read(text, game, start)


@contextmanager
def refusing_all() -> Iterator[None]:
    """Whatever a reader does not expect in a text from elsewhere is an IllegalActionError, which says what it was."""
    try:
        yield
    except SelfPlayError:
        raise
    except Exception as error:
        raise IllegalActionError(f"cannot be read: {type(error).__name__}: {shortened(str(error))}") from error


def format_of_text(text: str, ending: str = "") -> RecordFormat:
    """The format of a text: that of the ending of its file, if it is written in it, else the first that recognises it.

    Raises IllegalActionError if it is in none.
    """
    known = [ending] if ending in FORMATS else []
    for name in (*known, *FORMATS):
        if (form := FORMATS[name]).is_written_in(text):
            return form
    if known:
        return FORMATS[ending]
    raise IllegalActionError(f"the text is in none of the formats {', '.join(FORMATS)}")


def read_record(
    text: str, game: Game | None = None, start: State | None = None, ending: str = "", *, may_break: bool = False
) -> Record:
    """The one match of a text. Raises IllegalActionError also if it has several, or none.

    `may_break`: whether a match that breaks off at a move that cannot be played is returned up to there
    (`Record.broken`) rather than refused.
    """
    records = read_records(text, game, start, ending)
    if len(records) != 1:
        raise IllegalActionError(f"the text holds {len(records)} matches; give one of them" if records else NO_MATCH)
    if not may_break:
        require_whole(records[0])
    return records[0]


def require_whole(record: Record) -> None:
    """Raise IllegalActionError if a match breaks off at a move that cannot be played."""
    if record.broken:
        raise IllegalActionError(record.broken)


def read_record_of(game: Game, text: str, start: State | None = None, *, may_break: bool = False) -> Record:
    """As `read_record`, with an OtherGameError if the match is of another game, board or komi than `game`."""
    record = read_record(text, game, start, may_break=may_break)
    require_game(record, game)
    return record


def require_game(record: Record, game: Game) -> None:
    """Raise OtherGameError if a match is of another game, board or komi than `game`."""
    if record.game.rules != game.rules:
        own = record.game.name
        raise OtherGameError(f"this is a match of {own}, not of {game.name}; choose that game for it", own)


def read_record_file(path: Path, game: Game | None = None, *, may_break: bool = False) -> Record:
    """The one match of a file; `may_break`: as for `read_record`. Raises InvalidFileError if it cannot be read."""
    text = decoded(read_bytes(path))
    try:
        return read_record(text, game, ending=ending_of(path), may_break=may_break)
    except SelfPlayError as error:
        raise InvalidFileError(path, str(error)) from error


def ending_of(path: Path) -> str:
    """The ending of the name of a file, without the dot, in small letters."""
    return path.suffix.removeprefix(".").lower()


def record_of(match: Match, players: tuple[str, str] = ("", ""), said: Record | None = None) -> Record:
    """A match of these players. One that ended before the rules end it was resigned (`Match.has_resigned`), or is a
    forfeit.

    `said`: the record from which the match was read; its result holds while the match is the same.
    """
    if said is not None and not said.broken and said.match == match:
        return Record(match, players, decided_result(match, said.said or said.result))
    return Record(match, players, recorded_result(match))


def record_of_actions(game: Game, start: State | None, actions: Iterable[int], broken: str = "") -> Record:
    """The match of these actions from a position (B = 1; None: the start of the game), up to the first that cannot be
    played. Passes that are the only legal action may be left out.

    `broken`: why there are no further actions. Raises IllegalActionError if not even the first can be played.
    """
    match = Match(game, start)
    for action in actions:
        try:
            match = match.play_with_pass(action)
        except IllegalActionError as error:
            if not match.actions:
                raise
            return Record(match, broken=f"move {len(match.actions) + 1}: {error}")
    return Record(match, broken=broken)


def written_record(record: Record, name: str | None = None) -> WrittenRecord:
    """The match as a file, in the format with this name; None: in that of other programs for the game.

    Raises SettingError if the format does not fit the game.
    """
    chosen = name or fitting_formats(record.game)[-1]
    check_format(chosen, record.game)
    return WrittenRecord(f".{chosen}", FORMATS[chosen].write(record))


def fitting_formats(game: Game, *, with_comments: bool = False) -> list[str]:
    """The names of the formats in which matches of this game can be written, perhaps with comments."""
    fitting = [name for name in FORMATS if FORMATS[name].fits(game)]
    return [name for name in fitting if not with_comments or getattr(FORMATS[name], "writes_comments", False)]


def check_format(name: str, game: Game, *, with_comments: bool = False) -> None:
    """Raise SettingError if matches of this game, perhaps with comments, cannot be written in the format with this
    name."""
    if name not in (fitting := fitting_formats(game, with_comments=with_comments)):
        subject = f"matches of {game.name}{' with comments' * with_comments}"
        raise SettingError(f"{name}: {subject} can only be written as {', '.join(fitting)}")


def format_of_file(path: Path, game: Game, *, with_comments: bool = False) -> str:
    """The name of the format of a file to write, by its ending; without one, that of other programs for the game.

    Raises SettingError if it does not fit the game, or comments are to be written and it has none.
    """
    name = ending_of(path) or fitting_formats(game, with_comments=with_comments)[-1]
    check_format(name, game, with_comments=with_comments)
    return name


def decided_result(match: Match, said: RecordedResult | None) -> RecordedResult | None:
    """The result of a match: by the rules, else what a text says; in Go what it says, because the players agree on dead
    stones."""
    return said or recorded_result(match) if match.game.rules.safe is not None else recorded_result(match) or said


def recorded_result(match: Match) -> RecordedResult | None:
    """The result of a match; None if it is not over."""
    if not match.is_over:
        return None
    game, last = match.game, match.state
    returned = int(last.returns)
    if not bool(game.state_at(last.position).terminated):
        return RecordedResult(returned, "" if not returned else RESIGNED if match.has_resigned else GIVEN_UP)
    return RecordedResult(returned, f"{abs(float(game.score(last))):g}" if game.rules.margin is not None else "")
