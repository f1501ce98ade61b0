"""Make one table and one figure of all runs below a folder, such as those of a sweep (train/learn.py -m).

python train/compare_runs.py run_dir=outputs/recipes
"""

import project_environment

from pathlib import Path

from selfplay.cli.command import command
from selfplay.settings.run import Settings


def compare(settings: Settings) -> None:
    from selfplay.stages.sweep import compare_runs

    print(f"\n{compare_runs(Path(settings.run_dir))}")


if __name__ == "__main__":
    command(compare, run="read")
