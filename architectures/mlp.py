"""A multilayer perceptron on the flattened observation."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from torch import Tensor, nn

from selfplay.architectures.dropout import Dropout
from selfplay.errors import SettingError


def hidden_layers(sizes: Sequence[int], dropout: float) -> list[nn.Module]:
    """Linear, ReLU, dropout from each size to the next. Raises SettingError for a size or a rate out of range."""
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise SettingError(f"architecture.hidden_sizes={list(sizes[1:])}: give whole numbers from 1")
    if not 0 <= dropout < 1:
        raise SettingError(f"architecture.dropout={dropout}: give a rate from 0 to less than 1")
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        if dropout > 0:
            layers.append(Dropout(dropout))
    return layers


class MLP(nn.Module):
    """Linear layers of these hidden sizes, each with ReLU and dropout, then one linear output.

    With hidden_sizes=[1024] and dropout=0.5 it is the network SaintAndre_1024 of the article.
    """

    def __init__(
        self, observation_shape: tuple[int, ...], hidden_sizes: Sequence[int] = (256,), dropout: float = 0.0
    ) -> None:
        super().__init__()
        sizes = [math.prod(observation_shape), *hidden_sizes]
        self.layers = nn.Sequential(nn.Flatten(), *hidden_layers(sizes, dropout), nn.Linear(sizes[-1], 1))

    def forward(self, observations: Tensor) -> Tensor:
        return cast(Tensor, self.layers(observations))
