"""Layers of heads that are the same on boards of every size."""

import torch
from torch import Tensor, nn


class BoardPool(nn.Module):
    """The mean and the largest number of each plane: float32[N, C, rows, columns] to [N, 2C], all means first."""

    def forward(self, planes: Tensor) -> Tensor:
        numbers = planes.flatten(2)
        return torch.cat([torch.mean(numbers, 2), torch.amax(numbers, 2)], 1)


class Joined(nn.Module):
    """The outputs of several lists of layers for the same input, flattened, one after the other."""

    def __init__(self, *parts: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, planes: Tensor) -> Tensor:
        return torch.cat([part(planes).flatten(1) for part in self.parts], 1)


def starting_at_0(layer: nn.Conv2d | nn.Linear) -> nn.Module:
    """The layer, whose weights and biases are set to 0."""
    nn.init.zeros_(layer.weight)
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)
    return layer
