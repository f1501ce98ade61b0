"""The match of a session in a file, and what a file says of it."""

from selfplay.errors import NotNowError
from selfplay.files import user_path, written_whole
from selfplay.games import Game
from selfplay.playing.session import Session
from selfplay.records import (
    Record,
    fitting_formats,
    format_of_file,
    read_record_file,
    record_of,
    require_game,
    written_record,
)

REASONS = {"R": "resignation", "T": "time", "F": "forfeit"}
"""Why a match ended, by the first letter of `RecordedResult.by` where it is not a number."""


def record_of_session(session: Session) -> Record:
    """The current match, with the names of its players."""
    return record_of(session.match, session.names, session.loaded)


def save_match(session: Session, name: str) -> None:
    """Write the match to a file, in the format of its ending.

    Raises NotNowError without a name, SettingError if the format does not fit the game, StageError if the file cannot
    be written.
    """
    path = user_path(_named(name, "save", session.game))
    form = format_of_file(path, session.game)
    with written_whole(path) as part:
        part.write_text(written_record(record_of_session(session), form).text, encoding="utf-8")


def load_match(session: Session, name: str) -> Record:
    """Go on with the match in a file, which must be of the game of the session, up to the first move that cannot be
    played (`Record.broken`).

    Raises NotNowError without a name, InvalidFileError if the file cannot be read, and IllegalActionError if the match
    is of another game.
    """
    record = read_record_file(user_path(_named(name, "load", session.game)), session.game, may_break=True)
    require_game(record, session.game)
    session.new_match()
    session.resume(record.match)
    session.loaded = record
    return record


def example_file(game: Game) -> str:
    """A name of a file for matches of a game, in the format of other programs for it."""
    return f"game.{fitting_formats(game)[-1]}"


def about_record(record: Record) -> list[str]:
    """What a text says of a match besides its moves, and what of it is left out, in lines."""
    says_more = any(record.players) or record.result is not None
    lines = [heading(record)] if says_more else []
    if record.result is not None and record.match.is_over and record.result.returned != int(record.match.state.returns):
        lines.append("By the rules, which count every stone on the board as alive, the result is different.")
    lines += [f"{f'After move {ply}' if ply else 'At the start'}: {text}" for ply, text in record.comments.items()]
    if (count := record.variations) > 0:
        lines.append(f"{count} other {'line of play is' if count == 1 else 'lines of play are'} left out.")
    if record.broken:
        lines.append(f"The match breaks off here: {record.broken}")
    return lines


def heading(record: Record) -> str:
    """The game with its komi, the players, the handicap and the result."""
    game, seats = record.game, record.game.presentation.player_names
    told = [game.presentation.title] if game.komi is None else [game.presentation.title.partition(",")[0]]
    if game.komi is not None:
        told.append(f"komi {game.komi:g}")
    if (stones := record.match.handicap) > 0:
        told.append(f"handicap {stones}")
    told += [f"{seat}: {name}" for seat, name in zip(seats, record.players, strict=True) if name]
    return ", ".join([*told, result_words(record)])


def result_words(record: Record) -> str:
    """The result that a record says, in words."""
    if record.result is None:
        return "without a result"
    if record.result.returned == 0:
        return "drawn"
    by = record.result.by
    reason = REASONS.get(by[:1].upper(), by)
    return (
        f"{record.game.presentation.player_names[record.result.returned < 0]} wins{f' by {reason}' if reason else ''}"
    )


def _named(name: str, command: str, game: Game) -> str:
    if not name:
        raise NotNowError(f"write {command} and the name of a file, such as {command} {example_file(game)}")
    return name
