"""A residual network: blocks of two 3x3 convolutions with a skip connection, then linear layers."""

from collections.abc import Collection, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from selfplay.architectures import Output, require_board, require_positive_integers
from selfplay.architectures.board_pool import BoardBias
from selfplay.architectures.capabilities import LayerLists
from selfplay.architectures.mlp import hidden_layers


class ResidualBlock(nn.Module):
    """x + conv(relu(conv(relu(x)))), with activations before the convolutions (He et al., "Identity mappings in deep
    residual networks", 2016). Keeps the shape float32[N, channels, rows, columns].

    There is no batch normalisation, because the value of a position must not depend on the other positions of the
    batch. Deep stacks are trainable through the initialization instead (Zhang, Dauphin & Ma, "Fixup initialization",
    2019): the last convolution starts at 0, which makes the block the identity, and the first one is scaled by
    blocks ** -0.5. Biases start at 0.

    Args:
        sees_board: whether a `BoardBias` follows the first convolution.
    """

    def __init__(self, channels: int, blocks: int, sees_board: bool = False) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.last = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        if not self.first.weight.is_meta:  # drawing numbers on that device would import torch's compiler
            nn.init.kaiming_normal_(self.first.weight, nonlinearity="relu")
        nn.init.zeros_(self.last.weight)
        for convolution in (self.first, self.last):
            assert convolution.bias is not None
            nn.init.zeros_(convolution.bias)
        with torch.no_grad():
            self.first.weight.mul_(blocks**-0.5)
        self.board_bias = BoardBias(channels) if sees_board else None

    def forward(self, planes: Tensor) -> Tensor:
        numbers = self.first(torch.relu(planes))
        if self.board_bias is not None:
            numbers = self.board_bias(numbers)
        return planes + cast(Tensor, self.last(torch.relu(numbers)))

    def added_layers(self) -> list[nn.Module]:
        """The layers whose output the block adds to its input."""
        biases = [] if self.board_bias is None else [self.board_bias]
        return [nn.ReLU(), self.first, *biases, nn.ReLU(), self.last]


def residual_trunk(planes: int, channels: int, blocks: int, board_blocks: Collection[int] = ()) -> nn.Sequential:
    """A 3x3 convolution and residual blocks, which several heads can share: float32[N, planes, rows, columns] to
    [N, channels, rows, columns]. `board_blocks`: the numbers of the blocks with a `BoardBias`, from 1."""
    return nn.Sequential(
        nn.Conv2d(planes, channels, kernel_size=3, padding=1),
        *(ResidualBlock(channels, blocks, number in board_blocks) for number in range(1, blocks + 1)),
        nn.ReLU(),
    )


class Residual(nn.Module):
    """A 3x3 convolution, residual blocks, and a head as in AlphaZero (Silver et al., 2018): a 1x1 convolution to
    `head_channels` planes, then linear layers as in `MLP`. All convolutions keep the size of the board.

    Raises SettingError if the observation is not a board (planes, rows, columns), or a size is out of range.
    """

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        channels: int = 32,
        blocks: int = 3,
        head_channels: int = 8,
        hidden_sizes: Sequence[int] = (64,),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_board("residual", observation_shape, "mlp")
        require_positive_integers(channels=channels, head_channels=head_channels, blocks=blocks)
        planes, rows, columns = observation_shape
        sizes = [head_channels * rows * columns, *hidden_sizes]
        self.stem = nn.Conv2d(planes, channels, kernel_size=3, padding=1)
        self.blocks = nn.Sequential(*(ResidualBlock(channels, blocks) for _ in range(blocks)))
        self.head = nn.Sequential(
            nn.ReLU(),
            nn.Conv2d(channels, head_channels, kernel_size=1),
            nn.ReLU(),
            nn.Flatten(),
            *hidden_layers(sizes, dropout),
            nn.Linear(sizes[-1], 1),
        )

    def forward(self, observations: Tensor) -> Output:
        return Output(self.head(self.blocks(self.stem(observations))).squeeze(1))

    def listed_layers(self) -> LayerLists:
        """See `ListedLayers`."""
        return LayerLists(value=[self.stem, *self.blocks, *self.head])
