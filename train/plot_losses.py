"""Draw the loss curves of all levels of a run; for SumTo100 also the value of each sum.

python train/plot_losses.py
python train/plot_losses.py recipe=sumto100 run_dir=outputs/try
"""

import project_environment

from selfplay.cli.command import command
from selfplay.settings.run import Settings


def plot(settings: Settings) -> None:
    from selfplay.stages.draw_figures import draw_run_figures

    draw_run_figures(settings)


if __name__ == "__main__":
    command(plot, run="change")
