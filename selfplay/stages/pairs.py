"""Matches of many pairs of players, each pair a task for an executor; and matches as files of records."""

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

import torch

from selfplay.executors import open_executor
from selfplay.files import user_path, written_whole
from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.games.state import MatchRecord
from selfplay.matches.arena import Players
from selfplay.matches.series import PairResult, PairSeries, PlayerId
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.records import WrittenRecord, record_of, written_record
from selfplay.settings.matches import TournamentSettings
from selfplay.settings.run import Run, Settings

log = logging.getLogger(__name__)

PairSettings = TypeVar("PairSettings", Settings, TournamentSettings)
Make = Callable[[Run[PairSettings], PlayerId], Player]
"""Makes a player; a function at the top level of a module."""

LINE_SECONDS = 60
"""The shortest time between two lines about the progress."""


class PairTask(NamedTuple, Generic[PairSettings, PlayerId]):
    """A series of matches as a task for an executor."""

    run: Run[PairSettings]
    series: PairSeries[PlayerId]
    make: Make[PairSettings, PlayerId]
    keeps_matches: bool


class PlayedPair(NamedTuple):
    """A series that was played."""

    result: PairResult
    matches: list[WrittenRecord]
    """The matches, in order; empty unless they are kept."""


def play_pairs(
    run: Run[PairSettings],
    series: Sequence[PairSeries[PlayerId]],
    make: Make[PairSettings, PlayerId],
    progress: ProgressBar = NoProgress,
    description: str = "",
    *,
    keep_matches: bool = False,
) -> Generator[PlayedPair, None, None]:
    """Play each series, and give each when it is finished, in order; the executor of the settings may play several of
    them at the same time.

    Where no bar shows the progress, a line is logged at most every `LINE_SECONDS`.
    """
    tasks, done = [PairTask(run, one, make, keep_matches) for one in series], 0
    start = last_line = monotonic()
    files = run.task_files(run.folder.player_files())
    with (
        open_executor(run.settings.executor, run.settings.threads) as executor,
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
    run, (pair, series), make, keeps_matches = task
    matches = list[WrittenRecord]()
    with run.settings.computing():
        one, other = (make(run, player) for player in pair)
        series = replace(series, batch_size=run.settings.batch_size, device=run.device)

        def keep(record: MatchRecord) -> None:
            rows = range(len(record.match)) if keeps_matches else ()
            matches.extend(match_file(run.game, record, row, (one, other)) for row in rows)

        return PlayedPair(series.play(run.game, (one, other), keep), matches)


def match_file(game: Game, record: MatchRecord, row: int, players: Players) -> WrittenRecord:
    """The match in row `row` of a record of matches between `players`."""
    actions, first = record.actions_of(row), int(record.seats[row])
    states = [state.select(torch.tensor([row])) for state in (*record.states[: len(actions)], record.states[-1])]
    names, number = (players[first].name, players[1 - first].name), int(record.match[row])
    has_resigned = any(forfeit.match == number and forfeit.has_resigned for forfeit in record.forfeits)
    return written_record(record_of(Match.of_states(game, states, actions, has_resigned=has_resigned), names))


def write_match(folder: str | Path, number: int, match: WrittenRecord) -> None:
    """Write a match as the one with this number, from 1, in a folder. Raises StageError."""
    path = user_path(folder) / f"match_{number:06}{match.ending}"
    with written_whole(path) as part:
        part.write_text(match.text, encoding="utf-8")
