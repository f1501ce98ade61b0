"""A multilayer perceptron on the flattened observation."""

import math
from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from selfplay.architectures.dropout import Dropout
from selfplay.architectures.output import Output
from selfplay.errors import SettingError


def hidden_layers(sizes: Sequence[int], dropout: float) -> list[nn.Module]:
    """Linear, ReLU and dropout from each size to the next. Raises SettingError for a size or a rate out of range."""
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise SettingError(f"architecture.hidden_sizes={list(sizes[1:])}: must be integers of at least 1")
    if not 0 <= dropout < 1:
        raise SettingError(f"architecture.dropout={dropout}: must be at least 0 and less than 1")
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        if dropout > 0:
            layers.append(Dropout(dropout))
    return layers


class MLP(nn.Module):
    """Linear layers of these hidden sizes, each with ReLU and dropout, then one linear output.

    With hidden_sizes=[1024] and dropout=0.5 it is SaintAndre_1024, the network of the French article that
    recipe=article reproduces.

    Raises SettingError if a size or the rate is out of range.
    """

    def __init__(
        self, observation_shape: tuple[int, ...], hidden_sizes: Sequence[int] = (256,), dropout: float = 0.0
    ) -> None:
        super().__init__()
        sizes = [math.prod(observation_shape), *hidden_sizes]
        self.layers = nn.Sequential(nn.Flatten(), *hidden_layers(sizes, dropout), nn.Linear(sizes[-1], 1))

    def forward(self, observations: Tensor) -> Output:
        return Output(self.layers(observations).squeeze(1))

    def dense_layers(self) -> list[nn.Linear]:
        """The linear layers (see `DenseLayers`)."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]
