"""A match from a file, move by move: what a player expects of each move, and of the one that it would have played."""

from collections.abc import Iterator

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.files import user_path, written_whole
from selfplay.games import make_game
from selfplay.playing.console_text import value_text
from selfplay.playing.estimates import Estimate
from selfplay.playing.match_files import heading
from selfplay.playing.open_session import player_for
from selfplay.playing.session import Session
from selfplay.records import Record, format_of_file, read_record_file, written_record
from selfplay.settings.evaluation import AnalysisSettings


def record_lines(settings: AnalysisSettings) -> Iterator[str]:
    """The lines about the match of `settings.record`: its heading, each move as soon as it is valued, its comments.

    Writes the match with the values as comments, if `settings.commented` names a file.

    Raises:
        InvalidFileError: the match cannot be read.
        SettingError: the player does not value actions, or the match cannot be written in the format of the file.
    """
    assert settings.record is not None
    record = read_record_file(user_path(settings.record), make_game(settings.game.name))
    out = None if settings.commented is None else user_path(settings.commented)
    form = None if out is None else format_of_file(out, record.game)
    player = player_for(settings.player, record.game, settings)
    session = Session(record.game, (player, player), stream_key(settings.seed, 0, Activity.VERSUS_PERSON))
    session.resume(record.actions, start=record.start)
    yield heading(record)
    yield f"values: {player.name}"
    comments = dict(record.comments)
    if 0 in comments:
        yield comments[0]
    for number, ply in enumerate(session.plies):
        if (estimate := estimate_with_move(session, number)) is None:
            raise SettingError(f"player={player.name}: it does not value actions; name another player")
        said = valued_move(record, estimate, ply.action, ply.seat)
        comment = comments.get(number + 1)
        mover = record.game.presentation.player_names[ply.seat]
        yield " ".join(f"{number + 1}. {mover} {ply.text} {said} {comment or ''}".split())
        comments[number + 1] = "\n".join(filter(None, [comment, said]))
    if out is not None:
        with written_whole(out) as part:
            part.write_text(written_record(record._replace(comments=comments), form).text, encoding="utf-8")


def estimate_with_move(session: Session, number: int) -> Estimate | None:
    """What the player expects before ply `number`; of the move taken there, if its search has not tried it, what it
    expects of the best reply."""
    found, ply = session.estimate(number), session.plies[number]
    if found is None or found.value(ply.action) is not None:
        return found
    after = session.state_before(number + 1)
    if bool(after.terminated):
        value = None if found.in_points else float(after.returns) * (1 - 2 * ply.seat)
    else:
        reply = session.estimate(number + 1)
        value = None if reply is None or reply.in_points != found.in_points else reply.value(reply.best)
        if value is not None and int(after.current_player) != ply.seat:
            value = 2 * found.neutral - value
    if value is None:
        return found
    values = found.values.copy()
    values[ply.action] = value
    return found._replace(values=values)


def valued_move(record: Record, estimate: Estimate, action: int, seat: int) -> str:
    """The value of a move to the player who takes it, its grade, and the best one, if it is better."""
    value, best, grade = estimate.value(action), estimate.best, estimate.grade(action)
    form = {"is_exact": estimate.is_exact, "in_points": estimate.in_points}
    said = ["?" if value is None else value_text(value, **form), grade or ""]
    better = estimate.value(best)
    if best is not None and better is not None and (value is None or better > value):
        said.append(f"(best {record.game.action_text(best, seat)} {value_text(better, **form)})")
    return " ".join(filter(None, said))
