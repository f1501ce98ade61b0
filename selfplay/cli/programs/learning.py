"""Programs of the loop: learn, compare, prove and correct."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from selfplay.cli.command import Program
from selfplay.errors import StageError
from selfplay.figures.figure_files import draw_run_figures
from selfplay.progress import progress_bar
from selfplay.runs.finished_runs import read_runs
from selfplay.settings.chosen_recipe import with_chosen_recipe
from selfplay.settings.common import CommonSettings
from selfplay.settings.matches import CorrectionSettings, ProofSettings
from selfplay.settings.run import Run, Settings
from selfplay.stages import sweep
from selfplay.stages.compare import compare_and_report, is_compared, last_report
from selfplay.stages.correct import correct_and_prove
from selfplay.stages.generate import make_dataset
from selfplay.stages.learning_run import check_run, open_run
from selfplay.stages.loop import make_levels
from selfplay.stages.measure_levels import measure_level
from selfplay.stages.prove import prove_and_report
from selfplay.stages.train import make_level


def report(folder: Path, expected: Sequence[Path] = ()) -> None:
    """Compare the runs below a folder. Raises StageError if there are none, or none of them is finished."""
    runs = read_runs(folder, expected)
    print(f"\n{sweep.compare_runs(folder, runs)}")
    if not runs.finished:
        raise StageError(f"no run in {folder} can be compared")


def check_learn(settings: Settings) -> None:
    sweep.check_objective(settings.objective)
    check_run(settings)


def result(settings: Settings) -> float:
    return sweep.result_of_run(Path(settings.run_dir), settings.objective)


MAIN = (
    *("game.name", "recipe", "levels", "matches", "seed", "learner.learning_rate", "learner.epochs"),
    *("executor.workers", "force", "run_dir"),
)
"""The settings of a run that are changed most often."""


@partial(
    Program, kind=Settings, main=MAIN, check=check_learn, after_sweep=report, result=result, choose=with_chosen_recipe
)
def learn_program(settings: Settings) -> None:
    """Learn all levels of a run and compare them, in one process.

    Writes the same files as its stages do one by one. With -m it runs a sweep over settings. How a game is learned, if
    the command names no recipe: its own recipe; the value of each position, if they are few; or recipe=general.

    selfplay learn levels=10 seed=3
    selfplay learn game=my_game:MyGame
    selfplay learn -m seed=0,1,2 recipe=default,article run_dir=outputs/recipes
    """
    with open_run(settings, "learn") as run:
        make_levels(run, progress_bar)
        if is_compared(run):
            text = last_report(run)
        else:
            draw_run_figures(run)
            text = compare_and_report(run, progress_bar)
    print(f"\n{text}")


@partial(
    Program,
    kind=Settings,
    main=("game.name", "level", "matches", "opponent", "agent_file", "output_dir", "seed", "force", "run_dir"),
    check=partial(check_run, program="generate"),
)
def generate_program(settings: Settings) -> None:
    """Stage 1: play the matches of a level and write them as a dataset.

    Each row is an afterstate and the expected return of the player who has moved.

    selfplay generate --level 3
    selfplay generate --level 0 matches=5000 seed=1 run_dir=outputs/try
    selfplay generate --level 3 --opponent perfect --output-dir outputs/own
    """
    with open_run(settings, "generate") as run:
        newest = run.folder.newest_level() or int(settings.agent_file is not None)
        make_dataset(run, newest if settings.level is None else settings.level, progress_bar)


@partial(
    Program,
    kind=Settings,
    main=(
        *("game.name", "level", "learner.learning_rate", "learner.epochs", "learner.batch_size", "learner.optimizer"),
        *("dataset_file", "start_file", "force", "run_dir"),
    ),
    in_parallel=True,
    check=partial(check_run, program="train"),
)
def train_program(settings: Settings) -> None:
    """Stage 2: train a level on the matches of the level before it.

    selfplay train --level 4
    selfplay train --level 1 architecture=conv run_dir=outputs/try
    selfplay train --level 4 --dataset-file my/dataset.csv --start-file my/agent.safetensors --output-dir my
    torchrun --standalone --nproc-per-node 4 -m selfplay train --level 4   # four processes share each batch
    """
    with open_run(settings, "train") as run:
        make_level(run, run.folder.newest_level() + 1 if settings.level is None else settings.level, progress_bar)


@partial(
    Program,
    kind=Settings,
    main=(
        *(
            "game.name",
            "comparison.matches",
            "comparison.earlier_matches",
            "comparison.references",
            "player.depth",
            "force",
        ),
        "run_dir",
    ),
)
def compare_program(settings: Settings) -> None:
    """Measure every level of a run, and prove which levels cannot lose.

    Each level plays its predecessor and the random player; in small games every line of play is tried.
    With --level only this level is measured, as the loop does after training it.

    selfplay compare
    selfplay compare --level 3
    selfplay compare run_dir=outputs/article recipe=article
    """
    with open_run(settings, "compare") as run:
        if settings.level is not None:
            measure_level(run, settings.level, progress_bar)
            return
        # A comparison is always made again where it can be written.
        is_read_only = not os.access(run.folder.path, os.W_OK)
        text = last_report(run) if is_read_only and is_compared(run) else compare_and_report(run, progress_bar)
    print(f"\n{text}")


@partial(Program, kind=Settings, main=("game.name", "run_dir"))
def plot_program(settings: Settings) -> None:
    """Draw the loss curves of all levels of a run.

    For SumTo100 it also draws the value of each sum.

    selfplay plot
    selfplay plot recipe=sumto100 run_dir=outputs/try
    """
    draw_run_figures(Run.of(settings))


@partial(Program, kind=CommonSettings, config="compare_runs")
def compare_runs_program(settings: CommonSettings) -> None:
    """Make one table and one figure of all runs below a folder, such as those of a sweep.

    selfplay compare-runs run_dir=outputs/recipes
    """
    report(Path(settings.run_dir))


@partial(Program, kind=ProofSettings, config="prove")
def prove_program(settings: ProofSettings) -> None:
    """Walk every line of play against a player, and prove that it wins.

    If it does not win, the report shows its shortest line to a mistake.

    selfplay prove
    selfplay prove player=level:15 run_dir=outputs/connect_four seat=second walk=all executor=process
    selfplay prove 'player=search:negascout?depth=8&evaluation=level:15&endgame=14'
    selfplay prove player=level:15 replies=best   # the opponent plays perfectly

    Run the same command again to resume an interrupted walk.
    """
    print(f"\n{prove_and_report(settings, progress_bar)}")


@partial(Program, kind=CorrectionSettings, config="correct")
def correct_program(settings: CorrectionSettings) -> None:
    """Teach a level its mistakes on every line of play, until it is proved to win.

    The corrected level is in a run of its own, RUN_DIR/corrected.

    selfplay correct
    selfplay correct level=15 run_dir=outputs/connect_four endgame=14
    selfplay correct level=15 run_dir=outputs/connect_four endgame=0 replies=best   # against perfect play

    Run the same command again to resume an interrupted correction.
    """
    print(f"\n{correct_and_prove(settings, progress_bar)}")
