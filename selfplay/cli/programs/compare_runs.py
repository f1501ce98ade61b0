"""Make one table and one figure of all runs below a folder, such as those of a sweep.

selfplay compare-runs run_dir=outputs/recipes
"""

from pathlib import Path

from selfplay.cli.command import run_program
from selfplay.settings.run import Settings


def compare(settings: Settings) -> None:
    from selfplay.stages.sweep import compare_runs

    print(f"\n{compare_runs(Path(settings.run_dir))}")


def main() -> None:
    run_program(compare, Settings, run="read")
