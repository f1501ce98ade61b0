"""Training on rows that are in memory, and the examples made of them."""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from selfplay.dataset.rows import Rows
from selfplay.games import Game
from selfplay.settings.sections import OptimizerSettings, TrainingSettings
from selfplay.training.examples import Examples, training_examples
from selfplay.training.fitting import EpochLoss, fit
from selfplay.training.rows_in_memory import RowsInMemory


def training_settings(**changes: object) -> TrainingSettings:
    """Settings for a short training, with these fields changed; `learning_rate` is that of the optimizer."""
    optimizer = OptimizerSettings(learning_rate=changes.pop("learning_rate", 0.003))
    values = {"epochs": 4, "steps_per_epoch": 6, "batch_size": 128, "optimizer": optimizer}
    return TrainingSettings(**{**values, **changes})


def examples_of(rows: Rows, settings: TrainingSettings, game: Game) -> Examples:
    """`training_examples` with the observations that they show, uint8[N, D], as inputs."""
    codec = game.observation_codec
    examples = training_examples(codec.pack(rows.own, rows.opp), rows.target, settings, game.symmetries)
    observations = np.unpackbits(examples.packed, axis=1, count=codec.size)
    return Examples(*map(torch.from_numpy, (observations, examples.targets, examples.weights)))


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
