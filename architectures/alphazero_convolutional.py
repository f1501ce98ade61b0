"""A residual network whose weights do not depend on the size of the board, with a value head and a policy head."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from selfplay.architectures import MOST_LAYERS, Output, require_board, require_positive_integer
from selfplay.architectures.capabilities import LayerLists
from selfplay.architectures.mlp import hidden_layers
from selfplay.architectures.residual import residual_trunk
from selfplay.errors import SettingError


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


class AlphaZeroConvolutional(nn.Module):
    """The trunk of `AlphaZeroResidual`, with heads that are the same on boards of every size, as in KataGo (Wu,
    "Accelerating self-play learning in Go", 2019). An agent of one board can play and continue to learn on another.

    Value: a 1x1 convolution to `value_channels` planes, of each of which the mean and the largest number are taken;
    linear layers as in `MLP`, and the hyperbolic tangent.
    Policy: two 1x1 convolutions, to `policy_channels` planes and to the logit of each square. The logits of actions
    beyond the squares, such as a pass, are linear in the means and largest numbers of the planes. Logits start at 0.

    Args:
        num_actions: the number of policy logits. Action i is on square i; fewer further ones than squares may follow.

    Raises SettingError if the observation is not a board (planes, rows, columns), if the actions are not its squares,
    or if an option is out of range.
    """

    fits_other_boards = True

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        num_actions: int,
        channels: int = 32,
        blocks: int = 3,
        value_channels: int = 16,
        policy_channels: int = 16,
        hidden_sizes: Sequence[int] = (32,),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_board("alphazero_convolutional", observation_shape, "alphazero_mlp")
        numbers = {"channels": channels, "value_channels": value_channels, "policy_channels": policy_channels}
        for option, number in numbers.items():
            require_positive_integer(option, number)
        require_positive_integer("blocks", blocks, MOST_LAYERS)
        planes, rows, columns = observation_shape
        others = num_actions - rows * columns
        if not 0 <= others < rows * columns:
            raise SettingError(
                f"architecture=alphazero_convolutional needs an action for each of the {rows * columns} squares and "
                f"few others, and this game has {num_actions}; set architecture=alphazero_residual"
            )
        sizes = [2 * value_channels, *hidden_sizes]
        self.trunk = residual_trunk(planes, channels, blocks)
        self.value_head = nn.Sequential(
            nn.Conv2d(channels, value_channels, kernel_size=1),
            nn.ReLU(),
            BoardPool(),
            *hidden_layers(sizes, dropout),
            nn.Linear(sizes[-1], 1),
        )
        logits: list[nn.Module] = [_starting_at_0(nn.Conv2d(policy_channels, 1, kernel_size=1))]
        if others:
            logits.append(nn.Sequential(BoardPool(), _starting_at_0(nn.Linear(2 * policy_channels, others))))
        self.policy_head = nn.Sequential(
            nn.Conv2d(channels, policy_channels, kernel_size=1), nn.ReLU(), Joined(*logits)
        )

    def forward(self, observations: Tensor) -> Output:
        features = self.trunk(observations)
        return Output(torch.tanh(self.value_head(features)).squeeze(1), self.policy_head(features))

    def listed_layers(self) -> LayerLists:
        """See `ListedLayers`."""
        return LayerLists([*self.value_head, nn.Tanh()], self.policy_head, self.trunk)


def _starting_at_0(layer: nn.Conv2d | nn.Linear) -> nn.Module:
    nn.init.zeros_(layer.weight)
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)
    return layer
