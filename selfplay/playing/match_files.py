"""The match of a session in a file."""

from selfplay.errors import NotNowError
from selfplay.files import user_path, written_whole
from selfplay.playing.session import Session
from selfplay.records import Record, format_of_file, read_record_file, record_of, require_game, written_record


def record_of_session(session: Session) -> Record:
    """The current match, with the names of its players."""
    states = [session.state_before(ply) for ply in range(len(session.plies) + 1)]
    return record_of(session.game, states, [ply.action for ply in session.plies], session.names)


def save_match(session: Session, name: str) -> None:
    """Write the match to a file, in the format of its ending.

    Raises NotNowError without a name, SettingError if the format does not fit the game, StageError if the file cannot
    be written.
    """
    path = user_path(_named(name, "save"))
    form = format_of_file(path, session.game)
    with written_whole(path) as part:
        part.write_text(written_record(record_of_session(session), form).text, encoding="utf-8")


def load_match(session: Session, name: str) -> None:
    """Go on with the match in a file, which must be of the game of the session.

    Raises NotNowError without a name, InvalidFileError if the file cannot be read, and IllegalActionError if the match
    is of another game.
    """
    record = read_record_file(user_path(_named(name, "load")), session.game)
    require_game(record, session.game)
    session.new_match()
    session.resume(record.actions, start=record.start)


def _named(name: str, command: str) -> str:
    if not name:
        raise NotNowError(f"write {command} and the name of a file, such as {command} game.sgf")
    return name
