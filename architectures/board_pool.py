"""Layers that see the whole board and are the same on boards of every size."""

import torch
from torch import Tensor, nn


class BoardPool(nn.Module):
    """The mean and the largest number of each plane: float32[N, C, rows, columns] to [N, 2C], all means first."""

    def forward(self, planes: Tensor) -> Tensor:
        numbers = planes.flatten(2)
        return torch.cat([torch.mean(numbers, 2), torch.amax(numbers, 2)], 1)


class BoardBias(nn.Module):
    """Adds a number to each plane that the whole board decides: float32[N, C, rows, columns] to the same shape.

    The numbers are linear in the means and largest numbers of the planes after ReLU, as in the global pooling of
    KataGo (Wu, "Accelerating self-play learning in Go", 2019). They start at 0.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pool, self.linear = BoardPool(), nn.Linear(2 * channels, channels)
        starting_at_0(self.linear)

    def forward(self, planes: Tensor) -> Tensor:
        added: Tensor = self.linear(self.pool(torch.relu(planes))).unsqueeze(2)
        # By a product, of which the gradient is the same on every processor (`selfplay.compute.portable`).
        everywhere = nn.functional.linear(added, added.new_ones(planes[0, 0].numel(), 1))
        return planes + everywhere.reshape(planes.shape)


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
