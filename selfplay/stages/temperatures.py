"""The strengths below the strongest, for a game of one's own: their temperatures, found in short series of matches."""

import logging
from contextlib import closing

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.files import sha256
from selfplay.grading.versus_rollouts import WORK_OF_MOVE, WORK_OF_REPLY, about_plies
from selfplay.matches.series import Series
from selfplay.named_players.ladder_search import find_temperatures
from selfplay.named_players.ladders import COLUMNS, found_levels
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import is_from_run, strengths
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import best_level, rated_levels
from selfplay.runs.manifest import Stage
from selfplay.stages.learning_run import LearningRun
from selfplay.tables import Row, data_frame, write_csv

log = logging.getLogger(__name__)

MOST_TRIES = 4
"""The most temperatures that are tried of each strength."""
WORK_OF_SERIES, FEWEST_MATCHES, MOST_MATCHES = 4_000 * WORK_OF_MOVE, 16, 40
"""Of a series for one temperature: 5 to 20 s."""
MOST_WORK = 2 * WORK_OF_SERIES
"""In games where FEWEST_MATCHES are more work, because matches have more than about 50 plies, none are found."""
AGAIN = 4
"""How many times the number of the last level of which they were found a level has of which they are found again."""
FIRST_LEVEL = 8
"""The first level after which they are found, unless it is the last one: they take as long as several levels."""


def find_strengths(run: LearningRun, level: int, progress: ProgressBar = NoProgress) -> None:
    """Write temperatures.csv in the folder of a level that has just been rated: of the opponents that people choose.

    Does nothing for most levels: those found for an earlier one are used, until a level has AGAIN times its number, or
    is the last one that was asked for; nor in games with long matches, which have the usual ones. Raises as
    `make_player`.
    """
    if not _is_wanted(run, level):
        return
    folder, path, best = run.folder, run.folder.temperatures(level), best_level(run.folder)
    plays = strengths(run.game, folder.path)
    record = {name: plays[name].player for name in ("hard", "strongest")} | {"seed": run.settings.seed}
    if best is not None:
        record["agent_sha256"] = sha256(folder.existing_agent(best.level))
    stage = Stage("temperatures", folder.level(level), record, force=True)
    if stage.is_done():
        return
    with stage.making() as made:
        # A kill may have left it, and the search begins with the temperatures that are known.
        path.unlink(missing_ok=True)
        usual = {name: known.temperature or 1.0 for name, known in strengths(run.game, folder.path).items()}
        del usual["strongest"]
        most = len(usual) * MOST_TRIES
        text = "level %d: finding the temperatures of the opponents below the strongest, by up to %d series of matches"
        log.info(text, level, most)
        with closing(progress(total=most, desc="strengths: series")) as bar:

            def score(better: str, worse: str) -> float:
                points = _score(run, level, better, worse)
                bar.update(1)
                return points

            found = find_temperatures(score, usual, MOST_TRIES)
        rows: list[Row] = [
            {"strength": name, "player": plays[name].player, "matches": _matches(run, name), **one._asdict()}
            for name, one in found.items()
        ]
        write_csv(data_frame(COLUMNS, rows), path)
        made.files = [path.name]
    text = ", ".join(f"{name} {one.temperature:g}" for name, one in found.items())
    log.info("level %d: temperatures of the opponents below the strongest: %s", level, text)


def _is_wanted(run: LearningRun, level: int) -> bool:
    """Whether they are found for the newest rated level."""
    settings, folder = run.settings, run.folder
    rated = rated_levels(folder)
    if not rated or rated[-1].level != level or not is_from_run(run.game, folder.path):
        return False
    is_last, best = settings.levels is not None and level == settings.last_level, best_level(folder)
    if (level < FIRST_LEVEL and not is_last) or FEWEST_MATCHES * _work_of_match(run, "hard") > MOST_WORK:
        return False
    player = strengths(run.game, folder.path)["hard"].player
    # Whether it is done for this level is asked later.
    known = [earlier for earlier in found_levels(folder, player) if earlier != level]
    if best is None:
        return not known
    return not known or (best.level > known[-1] and (is_last or best.level >= AGAIN * known[-1]))


def _matches(run: LearningRun, worse: str) -> int:
    """The matches between a strength and the next above."""
    return max(FEWEST_MATCHES, min(MOST_MATCHES, int(WORK_OF_SERIES / _work_of_match(run, worse))))


def _work_of_match(run: LearningRun, worse: str) -> float:
    work = (WORK_OF_REPLY + WORK_OF_MOVE) / 2 if worse == "hard" else WORK_OF_MOVE
    return work * about_plies(run.game)


def _score(run: LearningRun, level: int, better: str, worse: str) -> float:
    players = make_player(better, run.game, run.folder.path), make_player(worse, run.game, run.folder.path)
    matches = range(_matches(run, worse.partition("?")[0]))
    series = Series(matches, stream_key(run.settings.seed, level, Activity.MEASUREMENT), opening_plies=0)
    return series.play(run.game, players).results.score
