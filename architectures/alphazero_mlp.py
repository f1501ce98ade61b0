"""A multilayer perceptron with a value head and a policy head."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from selfplay.architectures import Output
from selfplay.architectures.board_pool import starting_at_0
from selfplay.architectures.capabilities import LayerLists
from selfplay.architectures.mlp import hidden_layers


class TwoHeads(nn.Module):
    """A trunk that a value head, whose output becomes its hyperbolic tangent, and a policy head share."""

    trunk: nn.Sequential
    value_head: nn.Module
    policy_head: nn.Module

    def forward(self, observations: Tensor) -> Output:
        features = self.trunk(observations)
        return Output(torch.tanh(self.value_head(features)).squeeze(1), self.policy_head(features))

    def listed_layers(self) -> LayerLists:
        """See `ListedLayers`."""
        return LayerLists([self.value_head, nn.Tanh()], [self.policy_head], self.trunk)


class AlphaZeroMLP(TwoHeads):
    """Linear layers of these hidden sizes, each with ReLU and dropout, as a trunk that two linear heads share.

    The value is the hyperbolic tangent of one head, the policy logits are the other. The policy head starts at 0, so
    that an untrained network considers all actions equally probable.

    Args:
        num_actions: the number of policy logits.

    Raises SettingError if a size or the rate is out of range.
    """

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        num_actions: int,
        hidden_sizes: Sequence[int] = (128, 128),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        sizes = [math.prod(observation_shape), *hidden_sizes]
        self.trunk = nn.Sequential(nn.Flatten(), *hidden_layers(sizes, dropout))
        self.value_head = nn.Linear(sizes[-1], 1)
        self.policy_head = starting_at_0(nn.Linear(sizes[-1], num_actions))
