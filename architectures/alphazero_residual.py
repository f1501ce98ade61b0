"""A residual network with a value head and a policy head, as in AlphaZero."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from selfplay.architectures import MOST_LAYERS, Output, require_board, require_positive_integer
from selfplay.architectures.alphazero_mlp import policy_layer
from selfplay.architectures.capabilities import LayerLists
from selfplay.architectures.mlp import hidden_layers
from selfplay.architectures.residual import residual_trunk


class AlphaZeroResidual(nn.Module):
    """A 3x3 convolution and residual blocks as a trunk that two heads share (Silver et al., 2018), without batch
    normalisation: see `ResidualBlock`.

    Value: a 1x1 convolution to `value_channels` planes, linear layers as in `MLP`, and the hyperbolic tangent.
    Policy: a 1x1 convolution to `policy_channels` planes, and one linear layer, which starts at 0.

    Args:
        num_actions: the number of policy logits.

    Raises SettingError if the observation is not a board (planes, rows, columns), or an option is out of range.
    """

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        num_actions: int,
        channels: int = 32,
        blocks: int = 3,
        value_channels: int = 4,
        policy_channels: int = 8,
        hidden_sizes: Sequence[int] = (64,),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_board("alphazero_residual", observation_shape, "alphazero_mlp")
        numbers = {"channels": channels, "value_channels": value_channels, "policy_channels": policy_channels}
        for option, number in numbers.items():
            require_positive_integer(option, number)
        require_positive_integer("blocks", blocks, MOST_LAYERS)
        planes, rows, columns = observation_shape
        sizes = [value_channels * rows * columns, *hidden_sizes]
        self.trunk = residual_trunk(planes, channels, blocks)
        self.value_head = nn.Sequential(
            *_planes(channels, value_channels), *hidden_layers(sizes, dropout), nn.Linear(sizes[-1], 1)
        )
        self.policy_head = nn.Sequential(
            *_planes(channels, policy_channels), policy_layer(policy_channels * rows * columns, num_actions)
        )

    def forward(self, observations: Tensor) -> Output:
        features = self.trunk(observations)
        return Output(torch.tanh(self.value_head(features)).squeeze(1), self.policy_head(features))

    def listed_layers(self) -> LayerLists:
        """See `ListedLayers`."""
        return LayerLists([*self.value_head, nn.Tanh()], self.policy_head, self.trunk)


def _planes(channels: int, head_channels: int) -> list[nn.Module]:
    """The layers with which a head begins."""
    return [nn.Conv2d(channels, head_channels, kernel_size=1), nn.ReLU(), nn.Flatten()]
