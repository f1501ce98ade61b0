"""A match from a file, move by move: what a player expects of each move, and of the one that it would have played."""

from collections.abc import Iterator

import numpy as np
import torch

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.files import user_path, written_whole
from selfplay.players.estimates import Estimate, estimate_of
from selfplay.playing.console_text import value_text
from selfplay.playing.open_session import player_for
from selfplay.playing.saved_matches import heading
from selfplay.playing.session import Session
from selfplay.records import Record, format_of_file, read_record_file, written_record
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run


def record_lines(run: Run[AnalysisSettings]) -> Iterator[str]:
    """The lines about the match of the setting `record`: its heading, each move as soon as it is valued, its comments.

    Writes the match with the values as comments, if the setting `commented` names a file.

    Raises:
        InvalidFileError: the match cannot be read.
        SettingError: the player does not value actions, or the match cannot be written in the format of the file.
    """
    settings = run.settings
    assert settings.record is not None
    record = read_record_file(user_path(settings.record), run.game)
    out = None if settings.commented is None else user_path(settings.commented)
    form = None if out is None else format_of_file(out, record.game, with_comments=True)
    player = player_for(settings.player, record.game, run)
    session = Session(record.game, (player, player), stream_key(settings.seed, 0, Activity.VERSUS_PERSON))
    session.resume(record.match)
    yield heading(record)
    yield f"values: {player.name}"
    comments = dict(record.comments)
    if 0 in comments:
        yield comments[0]
    for number, ply in enumerate(session.plies):
        if (estimate := estimate_with_move(session, number)) is None:
            raise SettingError(f"player={player.name}: it does not value actions; name another player")
        said = valued_move(record, estimate, ply.action)
        comment = comments.get(number + 1)
        mover = record.game.presentation.player_names[ply.seat]
        name = record.game.presentation.action_name(estimate.state, ply.action)
        yield " ".join(f"{number + 1}. {mover} {name} {said} {comment or ''}".split())
        comments[number + 1] = "\n".join(filter(None, [comment, said]))
    if out is not None:
        with written_whole(out) as part:
            part.write_text(written_record(record._replace(comments=comments), form).text, encoding="utf-8")


def estimate_with_move(session: Session, number: int) -> Estimate | None:
    """What the player expects before ply `number`.

    If its search has not tried the move taken there, that move and the best one have the values of what the player
    expects after them, so that the same kind of search values both.
    """
    found, ply = session.estimate(number), session.plies[number]
    if found is None or found.best is None or found.value(ply.action) is not None:
        return found
    compared = [found.best, ply.action]
    known = [_value_after(session, number, action, found) for action in compared]
    values = [value for value, _ in known if value is not None]
    if len(values) < len(compared):
        return found
    proved = np.zeros(len(found.values), dtype=np.bool_)
    proved[compared] = [is_exact for _, is_exact in known]
    return found.with_searched(compared, np.array(values, dtype=np.float32), compared)._replace(proved=proved)


def _value_after(session: Session, number: int, action: int, found: Estimate) -> tuple[float | None, bool]:
    """What the player of `found` expects after an action, to who takes it, and whether it is exact; None if nothing."""
    game, state = session.game, session.match.state_before(number)
    after = game.step(state, torch.tensor([action]))
    if bool(after.terminated):
        result = float(after.returns_to(state.current_player))
        return (None if found.in_points else found.neutral + result * (found.neutral or 1.0)), True
    if action == session.plies[number].action:
        reply = session.estimate(number + 1)
    else:
        reply = estimate_of(found.player, game, after, session.draws_before(number + 1))
    if reply is None or reply.in_points != found.in_points or (value := reply.value(reply.best)) is None:
        return None, False
    is_again = int(after.current_player) == int(state.current_player)
    return (value if is_again else 2 * found.neutral - value), reply.knows(reply.best)


def valued_move(record: Record, estimate: Estimate, action: int) -> str:
    """The value of a move to the player who takes it, its grade, and the best one, if it is better."""
    value, best, grade = estimate.value(action), estimate.best, estimate.grade(action)
    form = {"is_exact": estimate.is_exact, "in_points": estimate.in_points}
    said = ["?" if value is None else value_text(value, **form), grade or ""]
    better = estimate.value(best)
    if best is not None and better is not None and (value is None or better > value):
        said.append(f"(best {record.game.presentation.action_name(estimate.state, best)} {value_text(better, **form)})")
    return " ".join(filter(None, said))
