"""Draw the loss curves of all levels of a run.

For SumTo100 it also draws the value of each sum.

selfplay plot
selfplay plot recipe=sumto100 run_dir=outputs/try
"""

from selfplay.cli.command import run_program
from selfplay.settings.run import Settings


def plot(settings: Settings) -> None:
    from selfplay.stages.draw_figures import draw_run_figures

    draw_run_figures(settings)


def main() -> None:
    run_program(plot, Settings, run="change")
