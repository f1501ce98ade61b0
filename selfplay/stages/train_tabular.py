"""Learn tables of values by self-play, as files of a run (selfplay train-tabular), and let two play (compete).

RUN_DIR/tabular/backward_value.npz, backward_value.csv (the results so far after every 500 matches), the same of
temporal_difference, manifest.json; RUN_DIR/figures/tabular_backward_value.png
"""

import logging
import time
from contextlib import closing
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import part_of
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.files import written_whole
from selfplay.games.position_graph import PositionGraph, positions_of
from selfplay.games.win_draw_loss import NO_MATCHES, RunningResults, WinDrawLoss
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.learning_curve import CURVE_COLUMNS, read_curve
from selfplay.runs.manifest import Stage, check_against_manifest
from selfplay.runs.run_folder import RunFolder, writing_run
from selfplay.settings.classical import TabularSettings
from selfplay.settings.common import recorded_defaults, stage_record
from selfplay.settings.matches import CompeteSettings, MatchSettings, SeriesSettings
from selfplay.settings.run import Run
from selfplay.stages.play_matches import ResultsTold, play_match_series
from selfplay.tabular.learning import UPDATE_RULES, Tables, UpdateRule, initial_values, learn_matches
from selfplay.tabular.table_file import load_tables, save_tables

log = logging.getLogger(__name__)

Rows = NDArray[np.int64]
"""int64[N, 4]: after every CURVE_EVERY matches and at the end, the number of matches, and how many of them the player
who moves first won, drew and lost."""
CURVE_EVERY = 500


def train_tabular(run: Run[TabularSettings], progress: ProgressBar = NoProgress) -> Path:
    """Learn the tables that the settings describe, unless they exist already, and return the path of their file.

    Tables that have learned from fewer matches continue. They get the same bytes as with all matches at once, unless
    they have also learned from matches against other players.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: an unknown update rule, one without its step size, or the step size of another rule.
        GameTooLargeError: the game has too many positions to enumerate.
        StageError: the tables exist and were learned with other settings, or from more matches.
    """
    settings, folder = run.settings, run.folder.tabular
    rule = _rule(settings)
    path, curve = folder / f"{rule.name}.npz", folder / f"{rule.name}.csv"
    record, defaults = stage_record(settings, "tabular"), recorded_defaults(settings)
    # Players that learn from their matches hold the lock of this folder, not that of the run.
    with writing_run(run.folder, create=True), RunFolder(folder).lock():
        stage = Stage(rule.name, folder, record, defaults, settings.force)
        is_continued = not settings.force and stage.has_fewer("episodes", curve.name)
        if not is_continued and stage.is_done(f"{path} already learned"):
            return path
        graph = positions_of(run.game)
        values, rows, played = initial_values(graph, rule), np.zeros((0, 4), dtype=np.int64), 0
        if is_continued:
            check_against_manifest(path)
            tables = load_tables(path, graph)
            values, played = np.array(tables.values, order="C"), tables.played
            rows = read_curve(curve)
            log.info("%s: continues after %d matches", rule.name, rows[-1][0])
        rows = _learn(settings, graph, rule, values, rows, progress)
        with stage.making() as made:
            with written_whole(path) as beside:
                save_tables(beside, graph, values, rule, record, played)
            with written_whole(curve) as beside:
                np.savetxt(beside, rows, "%d", ",", header=",".join(CURVE_COLUMNS), comments="")
            made.counts, made.files = {"matches": settings.episodes}, [path.name, curve.name]
        log.info("wrote %s", path)
        return path


def _rule(settings: TabularSettings) -> UpdateRule:
    if settings.agent not in UPDATE_RULES:
        raise SettingError(f"agent={settings.agent}: must be {' or '.join(UPDATE_RULES)}")
    rule = UPDATE_RULES[settings.agent]
    if getattr(settings, rule.step_size_name) is None:
        raise SettingError(f"{rule.step_size_name}=null: agent={rule.name} needs a step size")
    for other in UPDATE_RULES.values():
        size = getattr(settings, other.step_size_name)
        if other.step_size_name != rule.step_size_name and size is not None:
            raise SettingError(f"{other.step_size_name}={size}: agent={rule.name} uses {rule.step_size_name} instead")
    return rule


def _learn(
    settings: TabularSettings,
    graph: PositionGraph,
    rule: UpdateRule,
    values: Tables,
    rows: Rows,
    progress: ProgressBar,
) -> Rows:
    """Update `values`, learned already from the matches of `rows`; returns the rows of all matches."""
    start, before = time.perf_counter(), WinDrawLoss(*rows[-1][1:].tolist()) if len(rows) else NO_MATCHES
    kept = [row for row in rows.tolist() if row[0] % CURVE_EVERY == 0]
    with closing(ResultsTold(graph.game, settings.episodes, progress, every=settings.report_every)) as told:
        for results in learn_matches(
            graph,
            values,
            rule,
            matches=settings.episodes,
            step_size=getattr(settings, rule.step_size_name),
            epsilon=settings.epsilon,
            key=stream_key(settings.seed, 0, Activity.TABULAR_TRAINING),
            every=gcd(told.every, CURVE_EVERY),
            before=before,
        ):
            if results.matches % CURVE_EVERY == 0 or results.matches == settings.episodes:
                kept.append([results.matches, *results])
            told.tell(RunningResults(results, results))
    learned = settings.episodes - before.matches
    log.info("%s: learned from %d matches (%.2f s)", rule.name, learned, time.perf_counter() - start)
    return np.array(kept, dtype=np.int64)


def compete(settings: CompeteSettings) -> RunningResults:
    """Play the matches and log their results. The tables do not learn from them.

    Raises InvalidFileError if the run has no such tables.
    """
    player = f"tabular:{settings.tables}?epsilon={settings.epsilon}"
    fixed = {"swap": False, "learn": False, "opening_plies": 0, "report_every": settings.matches}
    return play_match_series(
        MatchSettings(**part_of(SeriesSettings, settings) | fixed | {"first": player, "second": player})
    )
