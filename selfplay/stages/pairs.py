"""Matches of many pairs of players, each pair a task for an executor."""

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.matches.series import PairResult, PairSeries, PlayerId
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.records import MatchFile
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.context import computing, executor_of, task_files
from selfplay.settings.matches import TournamentSettings
from selfplay.settings.run import Settings
from selfplay.stages.kept_matches import match_file

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
    keeps_matches: bool


class PlayedPair(NamedTuple):
    """A series that was played."""

    result: PairResult
    matches: list[MatchFile]
    """The matches, in order; empty unless they are kept."""


def play_pairs(
    settings: PairSettings,
    series: Sequence[PairSeries[PlayerId]],
    make: Callable[[PairSettings, Game, PlayerId], Player],
    progress: ProgressBar = NoProgress,
    description: str = "",
    *,
    keep_matches: bool = False,
) -> Generator[PlayedPair, None, None]:
    """Play each series, and give each when it is finished, in order; the executor of the settings may play several of
    them at the same time.

    Where no bar shows the progress, a line is logged at most every `LINE_SECONDS`.

    `make`: (settings, game, player) to the player, a function at the top level of a module.
    """
    tasks, done = [PairTask(settings, one, make, keep_matches) for one in series], 0
    start = last_line = monotonic()
    files = task_files(settings, RunFolder.of(settings).player_files())
    with (
        executor_of(settings.executor, settings.threads) as executor,
        closing(progress(total=len(tasks), desc=description)) as bar,
    ):
        for played in executor.map(play_pair, tasks, files):
            yield played
            done += 1
            bar.update(1)
            left, now = len(tasks) - done, monotonic()
            if bar.disable and left and now - last_line >= LINE_SECONDS:
                minutes, last_line = (now - start) / done * left / 60, now
                log.info("%s: %d of %d pairs, about %.0f min left", description, done, len(tasks), minutes)


def play_pair(task: PairTask[PairSettings, PlayerId]) -> PlayedPair:
    """Play one series."""
    settings, (pair, series), make, keeps_matches = task
    matches = list[MatchFile]()
    with computing(settings) as context:
        one, other = (make(settings, context.game, player) for player in pair)
        series = replace(series, batch_size=settings.batch_size, device=context.device)

        def keep(record: MatchRecord) -> None:
            rows = range(len(record.match)) if keeps_matches else ()
            matches.extend(match_file(context.game, record, row, (one, other)) for row in rows)

        return PlayedPair(series.play(context.game, (one, other), keep), matches)
