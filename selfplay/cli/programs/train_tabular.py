"""Learn the value of every board of a small game, one match after the other.

selfplay train-tabular
selfplay train-tabular agent=backward_value episodes=20000 alpha=0.5 epsilon=0.1 seed=1 run_dir=outputs/try
"""

from selfplay.cli.command import command_of, progress_bar
from selfplay.settings.tabular import TabularSettings


def train(settings: TabularSettings) -> None:
    from selfplay.stages.train_tabular import train_tabular

    train_tabular(settings, progress_bar)


def main() -> None:
    command_of(TabularSettings, "tabular", train)
