"""Let the two trained policies of a tabular learner play each other: 1,000 matches without exploration.

python train/compete.py
python train/compete.py tables=backward_value matches=500 epsilon=0.1
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.tabular import CompeteSettings


def compete(settings: CompeteSettings) -> None:
    from selfplay.stages.compete import compete

    compete(settings)


if __name__ == "__main__":
    command_of(CompeteSettings, "compete", compete, run="read")
