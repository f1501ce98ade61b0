"""The loop: the matches and the training of every level, one level after the other, in one process."""

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pandas import DataFrame

from selfplay.executors import open_executor
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import Grade, Grader
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.command_lines import command_for
from selfplay.runs.levels import load_level
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from selfplay.stages.generate import make_dataset
from selfplay.stages.learning_run import LearningRun
from selfplay.stages.measure_levels import measure_level
from selfplay.stages.temperatures import find_strengths
from selfplay.stages.train import make_level
from selfplay.stages.versus_rollouts import rate_level
from selfplay.training.epochs import Callback, Callbacks, read_epochs

log = logging.getLogger(__name__)


class LearnedRun(NamedTuple):
    """A run whose levels have been learned.

    Examples:
        >>> run = selfplay.learn(run_dir="outputs/tictactoe")
        >>> print(run)
        outputs/tictactoe: 3 trained levels
        >>> run.player(level=2)
        <ValueNetPlayer level 2>
    """

    run_dir: Path
    levels: tuple[int, ...]
    """The levels that were asked for, in order; at least one. The folder can have more."""

    def player(self, level: int | None = None) -> ValueNetPlayer | SearchPlayer:
        """The agent of a level as a player; None: of the last of `levels`. Raises as `load_level`."""
        return load_level(self.run_dir, self.levels[-1] if level is None else level)

    def strongest(self) -> Player:
        """The strongest player that is known for the game, as `make_player("strongest", ...)` makes it for this run."""
        return make_player("strongest", self.player().game, self.run_dir)

    def grade(self, level: int | None = None) -> Grade:
        """The exact grade of a level; None: of the last of `levels`.

        Raises GameTooLargeError if the game cannot be enumerated, and as `load_level`.
        """
        agent = self.player(level)
        return Grader(positions_of(agent.game)).grade(agent)

    def losses(self) -> DataFrame:
        """A row for each epoch of training, with the columns `level` and those of epoch_loss.csv.

        Raises InvalidFileError if a table is broken.
        """
        run = RunFolder(self.run_dir)
        rows = [
            {"level": level, "epoch": epoch.epoch, **epoch.measured, "is_champion": epoch.is_champion, **epoch.parts}
            for level in self.levels
            for epoch in read_epochs(run.epoch_loss(level))
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        return f"{self.run_dir}: {len(self.levels)} trained level{'s' * (len(self.levels) != 1)}"


def make_levels(run: LearningRun, progress: ProgressBar = NoProgress, callbacks: Sequence[Callback] = ()) -> LearnedRun:
    """Learn levels 1 to `settings.levels` of a run, one after the other. Raises as the stages."""
    folder, settings, told = run.folder, run.settings, Callbacks(callbacks)
    is_first = True
    with open_executor(settings.executor, settings.threads) as executor:
        for level in range(settings.last_level):
            began = time.perf_counter()
            make_dataset(run, level, progress, executor)
            is_new = make_level(run, level + 1, progress, callbacks)
            measure_level(run, level + 1, progress)
            rate_level(run, level + 1, progress)
            find_strengths(run, level + 1, progress)
            if is_new:
                _forecast(settings, level + 1, time.perf_counter() - began, is_first=is_first)
                is_first = False
            if is_new and callbacks and told.on_level(level + 1, _row_of(folder.strength(level + 1))):
                break
    return LearnedRun(folder.path, tuple(level for level in folder.trained_levels() if level <= settings.last_level))


FORECAST = 60
"""Seconds from which the time that is left is said."""


def _forecast(settings: Settings, level: int, seconds: float, *, is_first: bool) -> None:
    """Log how long the levels after this one take if each takes as long, and how to play meanwhile.

    The time of the first level that a command learns says little: it compiles, its matches may be those of another
    player, and they may have been played before.
    """
    left = (settings.last_level - level) * seconds
    if left < FORECAST:
        return
    end = "" if is_first else f"about {left / 60:.0f} minutes for {settings.levels}; "
    if settings.levels is None:
        end = "levels without an end; "
    play = command_for("play", settings.game.name, settings.run_dir)
    text = "level %d: %sinterrupt it at any time and play: %s"
    log.info(text, level, end, play)


def _row_of(path: Path) -> dict[str, Any]:
    """The row of strength.csv; empty where a comparison of the levels has measured the same level before."""
    if not path.exists():
        return {}
    return {str(column): value for column, value in pd.read_csv(path).to_dict("records")[0].items()}
