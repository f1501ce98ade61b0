"""Measure every level of a run, and prove which levels cannot lose.

Each level plays its predecessor and the random player; in small games every line of play is tried.

selfplay compare
selfplay compare run_dir=outputs/article recipe=article
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.run import Settings


def compare(settings: Settings) -> None:
    from selfplay.stages.compare import compare_and_report

    print(f"\n{compare_and_report(settings, progress_bar)}")


def main() -> None:
    run_program(compare, Settings, run="change")
