"""Learn all levels of a run and compare them, in one process.

Writes the same files as the shell script. With -m it runs a sweep over settings.

selfplay learn levels=10 seed=3
selfplay learn -m seed=0,1,2 recipe=default,article run_dir=outputs/recipes
"""

from collections.abc import Sequence
from pathlib import Path

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.run import Settings


def learn(settings: Settings) -> None:
    from selfplay.stages.compare import compare_and_report, is_compared
    from selfplay.stages.draw_figures import draw_run_figures
    from selfplay.stages.loop import learn_levels

    learn_levels(settings, progress_bar)
    if not is_compared(settings):
        draw_run_figures(settings)
        print(f"\n{compare_and_report(settings, progress_bar)}")


def report(folder: Path, runs: Sequence[Path]) -> None:
    from selfplay.stages.sweep import compare_runs

    print(f"\n{compare_runs(folder, runs)}")


def main() -> None:
    run_program(learn, Settings, after_sweep=report)
