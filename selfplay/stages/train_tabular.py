"""Learn tables of values by self-play, as files of a run (train/train_tabular.py).

RUN_DIR/tabular/backward_value.npz, temporal_difference.npz, manifest.json
"""

import logging
import time
from pathlib import Path

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games.position_graph import PositionGraph, positions_of
from selfplay.learners.tabular.learning import UPDATE_RULES, Tables, UpdateRule, initial_values, learn_matches
from selfplay.learners.tabular.table_file import save_tables
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import written_whole
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.tabular import TabularSettings

log = logging.getLogger(__name__)

LINES, UPDATES = 10, 200
"""How many times the results are reported: in lines, or beside a progress bar."""


def train_tabular(settings: TabularSettings, progress: ProgressBar = NoProgress) -> Path:
    """Learn the tables that `settings` describe, unless they exist already, and return the path of their file.

    Raises:
        SettingError: an unknown update rule, one without its step size, or the step size of another rule.
        GameTooLargeError: the game has too many positions to enumerate.
        StageError: the tables exist and were learned with other settings.
    """
    rule = _rule(settings)
    folder = RunFolder.of(settings).tabular
    path = folder / f"{rule.name}.npz"
    manifest = Manifest(folder)
    record, defaults = (of(settings, "tabular", rule.name) for of in (stage_record, recorded_defaults))
    if manifest.is_done(rule.name, record, defaults.get, force=settings.force):
        log.info("%s already learned, skipped", path)
        return path
    graph = positions_of(settings.game.name)
    values = _learn(settings, graph, rule, progress)
    manifest.forget(rule.name)
    with written_whole(path) as beside:
        save_tables(beside, graph, values, rule, record)
    manifest.record(rule.name, record, {"matches": settings.episodes}, [path.name])
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


def _learn(settings: TabularSettings, graph: PositionGraph, rule: UpdateRule, progress: ProgressBar) -> Tables:
    start = time.perf_counter()
    values = initial_values(graph, rule)
    # Lines that are asked for are written, and would interrupt a bar.
    bar = (progress if settings.report_every is None else NoProgress)(total=settings.episodes, desc=rule.name)
    done = 0
    for results in learn_matches(
        graph,
        values,
        rule,
        matches=settings.episodes,
        step_size=getattr(settings, rule.step_size_name),
        epsilon=settings.epsilon,
        key=stream_key(settings.seed, 0, Activity.TABULAR_TRAINING),
        every=settings.report_every or -(-settings.episodes // (LINES if bar.disable else UPDATES)),
    ):
        bar.update(results.matches - done)
        done = results.matches
        won, drawn, lost = results.rates
        rates = f"first player won {won:.4f}, second won {lost:.4f}, drawn {drawn:.4f}"
        bar.set_postfix_str(rates)
        if bar.disable:
            log.info("match %d: %s", done, rates)
    bar.close()
    log.info("%s: learned from %d matches (%.2f s)", rule.name, done, time.perf_counter() - start)
    return values
