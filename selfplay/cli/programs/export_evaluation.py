"""Write the feature weights that a level has learned as an evaluation for searches.

selfplay export-evaluation --level 3
selfplay export-evaluation --level 2 game=othello_6x6 file=my_evaluation.yaml
"""

from selfplay.cli.command import run_program
from selfplay.settings.evaluation import ExportSettings


def export(settings: ExportSettings) -> None:
    from selfplay.stages.export_evaluation import export_evaluation

    export_evaluation(settings)


def main() -> None:
    run_program(export, ExportSettings, "export_evaluation", run="change")
