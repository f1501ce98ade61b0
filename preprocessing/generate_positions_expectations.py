"""Stage 1: play the matches of a level and write them as (afterstate, expected return) rows to dataset.csv.

python preprocessing/generate_positions_expectations.py --level 3
python preprocessing/generate_positions_expectations.py --level 0 matches=5000 seed=1 run_dir=outputs/try
python preprocessing/generate_positions_expectations.py --level 3 --opponent perfect --output-dir outputs/own
"""

import project_environment

from selfplay.cli.command import command, progress_bar
from selfplay.players.levels import newest_level
from selfplay.settings.run import Settings
from selfplay.stages.generate import generate_level


def generate(settings: Settings) -> None:
    newest = newest_level(settings) or int(settings.agent_file is not None)
    level = newest if settings.level is None else settings.level
    generate_level(settings, level, progress_bar)


if __name__ == "__main__":
    command(generate)
