"""Matches of many pairs of players, each pair a task for an executor."""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from selfplay.games import Game
from selfplay.matches.series import PairResult, PairSeries, PlayerId
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.context import computing, executor_of, task_files
from selfplay.settings.matches import TournamentSettings
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)

PairSettings = TypeVar("PairSettings", Settings, TournamentSettings)

LINE_SECONDS = 60
"""The shortest time between two lines about the progress."""


class PairTask(NamedTuple, Generic[PairSettings, PlayerId]):
    """A series of matches as a task for an executor."""

    settings: PairSettings
    series: PairSeries[PlayerId]
    make: Callable[[PairSettings, Game, PlayerId], Player]
    """Makes either player; a function at the top level of a module."""


def play_pairs(
    settings: PairSettings,
    series: Sequence[PairSeries[PlayerId]],
    make: Callable[[PairSettings, Game, PlayerId], Player],
    progress: ProgressBar = NoProgress,
    description: str = "",
) -> list[PairResult]:
    """Play each series; the executor of the settings may play several of them at the same time.

    Where no bar shows the progress, a line is logged at most every `LINE_SECONDS`.

    `make`: (settings, game, player) to the player, a function at the top level of a module.
    """
    tasks, results = [PairTask(settings, one, make) for one in series], list[PairResult]()
    start = last_line = monotonic()
    files = task_files(settings, RunFolder.of(settings).player_files())
    with (
        executor_of(settings.executor, settings.threads) as executor,
        closing(progress(total=len(tasks), desc=description)) as bar,
    ):
        for result in executor.map(play_pair, tasks, files):
            results.append(result)
            bar.update(1)
            left, now = len(tasks) - len(results), monotonic()
            if bar.disable and left and now - last_line >= LINE_SECONDS:
                minutes, last_line = (now - start) / len(results) * left / 60, now
                log.info("%s: %d of %d pairs, about %.0f min left", description, len(results), len(tasks), minutes)
    return results


def play_pair(task: PairTask[PairSettings, PlayerId]) -> PairResult:
    """Play one series."""
    settings, (pair, series), make = task
    with computing(settings) as context:
        one, other = (make(settings, context.game, player) for player in pair)
        series = replace(series, batch_size=settings.batch_size, device=context.device)
        return series.play(context.game, (one, other))
