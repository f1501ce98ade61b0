"""Measure every level of a run against its predecessor and the random player, and prove which levels cannot lose.

python train/compare_levels.py
python train/compare_levels.py run_dir=outputs/article recipe=article
"""

import project_environment

from selfplay.cli.command import command, progress_bar
from selfplay.settings.run import Settings


def compare(settings: Settings) -> None:
    from selfplay.stages.compare import compare_and_report

    print(f"\n{compare_and_report(settings, progress_bar)}")


if __name__ == "__main__":
    command(compare, run="change")
