"""Stage 1: play the matches of a level and write them as a dataset.

Each row is an afterstate and the expected return of the player who has moved.

selfplay generate --level 3
selfplay generate --level 0 matches=5000 seed=1 run_dir=outputs/try
selfplay generate --level 3 --opponent perfect --output-dir outputs/own
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from selfplay.stages.generate import generate_level


def generate(settings: Settings) -> None:
    newest = RunFolder.of(settings).newest_level() or int(settings.agent_file is not None)
    level = newest if settings.level is None else settings.level
    generate_level(settings, level, progress_bar)


def main() -> None:
    run_program(generate, Settings)
