"""The losses that training minimises, and those of held-out rows."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from selfplay.architectures import Output
from selfplay.architectures.capabilities import ScoresActions
from selfplay.compute.portable import arithmetic_of, is_portable
from selfplay.games.game import Game
from selfplay.training.examples import ILLEGAL
from selfplay.training.parameters import LossWeights
from selfplay.training.process_group import ProcessGroup
from selfplay.training.rows import HeldOut

VALIDATION_BLOCK = 65536
"""Rows in one forward pass."""


def cross_entropies(logits: Tensor, policies: Tensor) -> Tensor:
    """float32[N]: -sum of policy * log softmax(logits) over the legal actions of each example.

    Args:
        logits: float32[N, A]
        policies: float32[N, A], ILLEGAL where an action is illegal.
    """
    is_legal = policies > ILLEGAL
    logarithms = torch.log_softmax(logits.masked_fill(~is_legal, -torch.inf), dim=1)
    return -(policies * logarithms).masked_fill(~is_legal, 0.0).sum(dim=1)


def legal_actions_of_rows(policies: Tensor) -> tuple[Tensor, Tensor]:
    """The legal actions of each of N examples, with the policies of these alone.

    Returns:
        actions: int64[N, K], where K is the largest number of legal actions; 0 where there are fewer.
        policies: float32[N, K], ILLEGAL where there are fewer.
    """
    is_legal = policies > ILLEGAL
    rows, columns = is_legal.nonzero(as_tuple=True)
    counts = is_legal.sum(dim=1)
    places = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[rows]
    shape = len(policies), int(counts.max())
    actions, of_actions = counts.new_zeros(shape), policies.new_full(shape, ILLEGAL)
    actions[rows, places], of_actions[rows, places] = columns, policies[rows, columns]
    return actions, of_actions


def output_and_policies(network: nn.Module, observations: Tensor, policies: Tensor) -> tuple[Output, Tensor]:
    """The output of a network, and the policies (as in `cross_entropies`) of the actions whose logits it has."""
    if is_portable(network) or not isinstance(network, ScoresActions):
        return network(observations), policies
    actions, of_actions = legal_actions_of_rows(policies)
    return network.output_of(observations, actions), of_actions


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
            values, policy_losses = [], []
            for start in range(0, len(part.packed), VALIDATION_BLOCK):
                block = slice(start, start + VALIDATION_BLOCK)
                observations = game.observations_in(part.packed[block].to(device))
                if part.policies is None:
                    output = network(observations)
                else:
                    output, policies = output_and_policies(network, observations, part.policies[block].to(device))
                    assert output.policy_logits is not None, "checked before the matches of level 0"
                    policy_losses.append(cross_entropies(output.policy_logits, policies))
                values.append(output.value)
            errors = (torch.cat(values)[part.inverse.to(device)] - part.targets.to(device)).double().square()
            policy_loss = float(torch.cat(policy_losses).double().sum()) if policy_losses else 0.0
            sums += torch.tensor([float(errors.sum()), len(errors), policy_loss], dtype=torch.float64)
    total, count, policy_total = processes.all_reduce(sums).tolist()
    is_policy_trained = any(part.policies is not None for part in held_out)
    return Losses(float(total / count), float(policy_total / count) if is_policy_trained else None)
