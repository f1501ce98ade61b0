"""The loop: the matches and the training of every level, one level after the other, in one process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pandas import DataFrame

from selfplay.games import Game, make_game, name_of_game
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import Grade, Grader
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import load_level
from selfplay.runs.run_folder import RunFolder, writes_run
from selfplay.settings.context import executor_of
from selfplay.settings.overrides import overrides_of
from selfplay.settings.recorded import composed_for_run
from selfplay.settings.run import Settings
from selfplay.stages.generate import generate_level
from selfplay.stages.measure_levels import measure_level
from selfplay.stages.run_check import check_run
from selfplay.stages.train import train_level
from selfplay.training.callbacks import Callback, Callbacks
from selfplay.training.epochs import read_epochs


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


def learn(
    game: Game | str | None = None,
    *,
    progress: ProgressBar = NoProgress,
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> LearnedRun:
    """Learn the levels of a run, as the command `selfplay learn` does: `learn("tictactoe", levels=3, seed=0)`.

    Levels that are learned already are not learned again, and settings that are not given are those that the run has
    recorded. With `levels=3` the result has levels 1 to 3, also if the run has more.

    Args:
        game: a game or its name; None: as the recipe says, usually tictactoe.
        progress: makes the progress bars, such as `tqdm.tqdm`; none are shown by default.
        callbacks: as for `learn_levels`.
        settings: of the run, by their names; those of a section as a dict, such as `learner={"epochs": 3}`.

    Raises as `learn_levels`, and SettingError if no name makes the game, because the files of the run name it.

    Examples:
        >>> run = selfplay.learn("tictactoe", levels=1, matches=100, run_dir="outputs/short")
        >>> run.levels
        (1,)
        >>> run.player()
        <ValueNetPlayer level 1>
    """
    if game is not None:
        settings["game"] = game if isinstance(game, str) else name_of_game(make_game(game))
    return learn_levels(composed_for_run(overrides_of(settings)), progress, callbacks)


@writes_run(create=True)
def learn_levels(
    settings: Settings, progress: ProgressBar = NoProgress, callbacks: Sequence[Callback] = ()
) -> LearnedRun:
    """Learn levels 1 to `settings.levels`, one after the other, in the same stages and bytes as the shell loop.

    A level that is already trained with the same settings is skipped.

    Args:
        settings: of the run; `compose_settings` makes them.
        progress: makes the progress bars, such as `tqdm.tqdm`; none are shown by default.
        callbacks: called while levels learn and after each; they can stop it.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: a setting of a single stage is given, or a stage would refuse one; nothing is changed then.
        StageError: files of the run were made with other settings, or cannot be written.
        InvalidFileError: a file of the run is broken.
    """
    check_run(settings)
    run, told = RunFolder.of(settings), Callbacks(callbacks)
    with executor_of(settings.executor, settings.threads) as executor:
        for level in range(settings.levels):
            generate_level(settings, level, progress, executor)
            is_new = train_level(settings, level + 1, progress, callbacks)
            measure_level(settings, level + 1, progress)
            if is_new and callbacks and told.on_level(level + 1, _row_of(run.strength(level + 1))):
                break
    return LearnedRun(run.path, tuple(level for level in run.trained_levels() if level <= settings.levels))


def _row_of(path: Path) -> dict[str, Any]:
    """The row of strength.csv; empty where a comparison of the levels has measured the same level before."""
    if not path.exists():
        return {}
    return {str(column): value for column, value in pd.read_csv(path).to_dict("records")[0].items()}
