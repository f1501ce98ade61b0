"""A multilayer perceptron on the flattened observation, and dropout with a mask that is cheap to draw."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from selfplay.architectures import MOST_LAYERS, Output
from selfplay.architectures.capabilities import LayerLists
from selfplay.checks import require

LEVELS = 1 << 16


class Dropout(nn.Module):
    """Dropout (Srivastava et al., JMLR 15, 2014): in training, each entry is set to 0 with probability `rate`, and the
    others are scaled by 1 / (1 - rate).

    nn.Dropout draws a random number for each entry, which takes most of a training step on a CPU. Here four entries
    share the 64 bits of one number, and the rate is rounded down to a multiple of 1 / 65,536.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = int(rate * LEVELS)

    def forward(self, entries: Tensor) -> Tensor:
        if not self.training:
            return entries
        words = torch.empty(-(-entries.numel() // 4), dtype=torch.int64, device=entries.device)
        words.random_(-(1 << 63), None)
        bits = words.view(torch.int16)[: entries.numel()].view(entries.shape)
        kept = (bits >= self.dropped - LEVELS // 2).to(entries.dtype)
        return entries * kept.mul_(LEVELS / (LEVELS - self.dropped))


def hidden_layers(sizes: Sequence[int], dropout: float) -> list[nn.Module]:
    """Linear, ReLU and dropout from each size to the next. Raises SettingError for a size or a rate out of range."""
    hidden = list(sizes[1:])
    require("hidden_sizes", hidden, len(hidden) <= MOST_LAYERS, f"at most {MOST_LAYERS:,} sizes")
    are_sizes = all(isinstance(size, int) and size > 0 for size in sizes)
    require("hidden_sizes", hidden, are_sizes, "integers of at least 1")
    require("dropout", dropout, 0 <= dropout < 1, "at least 0 and less than 1")
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

    def listed_layers(self) -> LayerLists:
        """See `ListedLayers`."""
        return LayerLists(value=self.layers)
