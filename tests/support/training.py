"""Training on rows that are in memory, and the examples made of them."""

from collections.abc import Callable

import torch
from torch import nn

from selfplay.dataset.rows import Rows
from selfplay.games import Game
from selfplay.training.epochs import Epoch
from selfplay.training.examples import Examples, Images, training_examples
from selfplay.training.fitting import fit_network
from selfplay.training.parameters import Training
from selfplay.training.rows import TrainingRows


def training_settings(**changes: object) -> Training:
    """Parameters of a short training, with these fields changed."""
    return Training(**{"epochs": 4, "steps_per_epoch": 6, "batch_size": 128, **changes})


def all_images(examples: Examples, game: Game) -> Examples:
    """The images of examples that are not merged."""
    images = Images(game)
    return images.select(examples, torch.arange(len(examples.targets) * images.count))


def examples_of(rows: Rows, settings: Training, game: Game) -> Examples:
    """`training_examples` with the observations that they show, uint8[N, D], in the place of packed ones."""
    codec = game.observation_codec
    examples = training_examples(codec.pack(rows.position), rows.target, None, settings, game)
    if settings.symmetries and not settings.merge:
        examples = all_images(examples, game)
    return examples._replace(packed=codec.entries.unpacked(examples.packed))


def fit_to_rows(
    network: nn.Module,
    rows: Rows,
    settings: Training,
    game: Game,
    seed: int,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
    **options: object,
) -> list[Epoch]:
    """`fit` to these rows, in memory."""
    return fit_network(network, TrainingRows(game, [rows]), settings, seed=seed, on_epoch=on_epoch, **options)
