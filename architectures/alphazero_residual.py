"""A residual network with a value head and a policy head, as in AlphaZero."""

from collections.abc import Sequence

from torch import nn

from selfplay.architectures import require_board, require_positive_integers
from selfplay.architectures.alphazero_mlp import TwoHeads
from selfplay.architectures.board_pool import starting_at_0
from selfplay.architectures.mlp import hidden_layers
from selfplay.architectures.residual import residual_trunk


class AlphaZeroResidual(TwoHeads):
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
        require_positive_integers(
            channels=channels, value_channels=value_channels, policy_channels=policy_channels, blocks=blocks
        )
        planes, rows, columns = observation_shape
        sizes = [value_channels * rows * columns, *hidden_sizes]
        self.trunk = residual_trunk(planes, channels, blocks)
        self.value_head = nn.Sequential(
            *_planes(channels, value_channels), *hidden_layers(sizes, dropout), nn.Linear(sizes[-1], 1)
        )
        self.policy_head = nn.Sequential(
            *_planes(channels, policy_channels), starting_at_0(nn.Linear(policy_channels * rows * columns, num_actions))
        )


def _planes(channels: int, head_channels: int) -> list[nn.Module]:
    """The layers with which a head begins."""
    return [nn.Conv2d(channels, head_channels, kernel_size=1), nn.ReLU(), nn.Flatten()]
