"""The losses that training minimises, and those of the held-out rows."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from selfplay.compute.portable import arithmetic_of
from selfplay.games.game import Game
from selfplay.training.examples import ILLEGAL
from selfplay.training.parameters import LossWeights
from selfplay.training.process_group import ProcessGroup
from selfplay.training.rows import HeldOut

VALIDATION_BLOCK = 65536
"""Rows in one forward pass."""


def weighted_squared_errors(values: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """float32[N]: weight * (value - target)**2 of each example, whose mean over a batch training minimises.

    `values`, `targets`, `weights`: float32[N].
    """
    return weights * (values - targets).square()


def cross_entropies(logits: Tensor, policies: Tensor) -> Tensor:
    """float32[N]: -sum of policy * log softmax(logits) over the legal actions of each example.

    Args:
        logits: float32[N, A]
        policies: float32[N, A], ILLEGAL where an action is illegal.
    """
    is_legal = policies > ILLEGAL
    logarithms = torch.log_softmax(logits.masked_fill(~is_legal, -torch.inf), dim=1)
    return -(policies * logarithms).masked_fill(~is_legal, 0.0).sum(dim=1)


class Losses(NamedTuple):
    """The two parts of a loss."""

    value: float
    """Mean squared error of the value."""
    policy: float | None = None
    """Mean cross-entropy of the policy; None without policies."""

    def total(self, weights: LossWeights) -> float:
        """The loss with these weights; without policies the squared error."""
        return self.value if self.policy is None else weights.value * self.value + weights.policy * self.policy


def validation_losses(
    network: nn.Module,
    held_out: Sequence[HeldOut],
    game: Game,
    processes: ProcessGroup,
    device: str,
) -> Losses:
    """The mean losses over the held-out rows of all processes.

    Args:
        held_out: the rows of this process, in parts; the network evaluates the distinct observations of each part.
    """
    network.eval()
    sums = torch.zeros(3, dtype=torch.float64)
    with arithmetic_of(network), torch.inference_mode():
        for part in held_out:
            blocks = torch.split(part.packed.to(device), VALIDATION_BLOCK)
            outputs = [network(game.observations_in(block)) for block in blocks]
            values = torch.cat([output.value for output in outputs])
            errors = (values[part.inverse.to(device)] - part.targets.to(device)).double().square()
            policy_loss = 0.0
            if part.policies is not None:
                logits = torch.cat([output.policy_logits for output in outputs])
                policy_loss = float(cross_entropies(logits, part.policies.to(device)).double().sum())
            sums += torch.tensor([float(errors.sum()), len(errors), policy_loss], dtype=torch.float64)
    total, count, policy_total = processes.all_reduce(sums).tolist()
    is_policy_trained = any(part.policies is not None for part in held_out)
    return Losses(float(total / count), float(policy_total / count) if is_policy_trained else None)
