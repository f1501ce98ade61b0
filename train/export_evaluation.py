"""Write the feature weights that a level has learned as an evaluation for searches.

python train/export_evaluation.py --level 3
python train/export_evaluation.py --level 2 game=othello_6x6 file=my_evaluation.yaml
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.evaluation import ExportSettings


def export(settings: ExportSettings) -> None:
    from selfplay.stages.export_evaluation import export_evaluation

    export_evaluation(settings)


if __name__ == "__main__":
    command_of(ExportSettings, "export_evaluation", export, run="change")
