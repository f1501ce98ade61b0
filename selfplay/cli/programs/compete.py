"""Let the two trained policies of a tabular learner play each other.

They play 1,000 matches without exploration, or as many as `matches`.

selfplay compete
selfplay compete tables=backward_value matches=500 epsilon=0.1
"""

from selfplay.cli.command import run_program
from selfplay.settings.tabular import CompeteSettings


def compete(settings: CompeteSettings) -> None:
    from selfplay.stages.compete import compete

    compete(settings)


def main() -> None:
    run_program(compete, CompeteSettings, "compete", run="read")
