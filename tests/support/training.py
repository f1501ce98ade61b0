"""Training on rows that are in memory."""

from collections.abc import Callable

from torch import nn

from selfplay.dataset.rows import Rows
from selfplay.games import Game
from selfplay.settings.training import TrainingSettings
from selfplay.training.fitting import EpochLoss, fit
from selfplay.training.rows_in_memory import RowsInMemory


def fit_to_rows(
    network: nn.Module,
    rows: Rows,
    settings: TrainingSettings,
    game: Game,
    key: int,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
    **options: object,
) -> list[EpochLoss]:
    """`fit` to these rows, in memory."""
    in_memory = RowsInMemory([rows], settings, game, key)
    return fit(network, in_memory, settings, game.observation_shape, key, on_epoch, **options)
