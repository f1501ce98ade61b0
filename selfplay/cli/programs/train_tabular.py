"""Learn the value of every board of a small game, one match after the other.

selfplay train-tabular
selfplay train-tabular agent=backward_value episodes=20000 alpha=0.5 epsilon=0.1 seed=1 run_dir=outputs/try
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.tabular import TabularSettings


def train(settings: TabularSettings) -> None:
    from selfplay.figures.tabular_training import draw_training
    from selfplay.runs.run_folder import RunFolder
    from selfplay.stages.train_tabular import train_tabular

    path = train_tabular(settings, progress_bar)
    if (table := path.with_suffix(".csv")).exists():
        draw_training(table, RunFolder.of(settings).figures / f"tabular_{path.stem}.png")


def main() -> None:
    run_program(train, TabularSettings, "tabular")
