"""Training in batches: the losses that it minimises, a step of the optimiser on each batch, and held-out losses."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from selfplay.architectures import Output, probe
from selfplay.architectures.capabilities import ScoresActions
from selfplay.compute.portable import arithmetic_of, is_portable
from selfplay.games.game import Game
from selfplay.training.examples import ILLEGAL, Batch, Examples
from selfplay.training.optimizers import LearningRate, flattened
from selfplay.training.parameters import OPTIMIZERS, LossWeights, Training
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


class BatchTraining:
    """Changes the weights of a network, one epoch at a time; each process computes the gradient of its share.

    If the batches have policies, the policy of the network is trained too, in one process. Otherwise a policy head
    keeps its weights.
    """

    weights: Tensor
    """All current weights of the network; writing into the tensor changes the network."""

    def __init__(
        self,
        network: nn.Module,
        game: Game,
        training: Training,
        learning_rate: LearningRate,
        processes: ProcessGroup,
        loss: LossWeights,
    ) -> None:
        self._network, self._game, self._processes, self._loss = network, game, processes, loss
        self._learning_rate, self._steps = learning_rate, 0
        self.weights, self._gradient = flattened(network.parameters())
        make = OPTIMIZERS[training.optimizer]
        self._optimizer = make(self.weights, self._gradient, training, is_portable=is_portable(network))
        self._value: nn.Module = _ValueOf(network)
        if processes.world_size > 1:
            has_policy_head = probe(network, game.observation_shape).policy_logits is not None
            self._value = processes.data_parallel(self._value, find_unused_parameters=has_policy_head)
        self._autocast = autocast(training.precision, self.weights.device)

    def run_epoch(self, batches: Iterator[Batch]) -> Losses:
        """Take the steps of one epoch, each on the next of the batches.

        Returns the means over the batches of the parts of the loss, each before its step.
        """
        total, policy_total = torch.zeros((2,), device=self.weights.device)
        policy_loss: Tensor | None = None
        for batch in islice(batches, self._learning_rate.steps_per_epoch):
            if batch.share.policies is None:
                total += self._step(batch)
            else:
                value_loss, policy_loss = self._step_with_policies(batch.share, batch.share.policies)
                total += value_loss
                policy_total += policy_loss
        steps = self._learning_rate.steps_per_epoch
        value = float(self._processes.all_reduce(total)) / steps
        return Losses(value, None if policy_loss is None else float(policy_total) / steps)

    def _step_with_policies(self, examples: Examples, policies: Tensor) -> tuple[Tensor, Tensor]:
        """Take a step; returns the mean squared error of the values, and the mean cross-entropy of the policies."""
        observations = self._game.observations_in(examples.packed)
        self._gradient.zero_()
        with arithmetic_of(self._network):
            with self._autocast:
                output, policies = output_and_policies(self._network, observations, policies)
            assert output.policy_logits is not None, "checked before the matches of level 0"
            value_loss = weighted_squared_errors(output.value.float(), examples.targets, examples.weights).mean()
            policy_loss = (examples.weights * cross_entropies(output.policy_logits.float(), policies)).mean()
        self._follow(self._loss.value * value_loss + self._loss.policy * policy_loss)
        return value_loss.detach(), policy_loss.detach()

    def _step(self, batch: Batch) -> Tensor:
        """Take a step; returns this process's part of the loss of the batch."""
        observations = self._game.observations_in(batch.share.packed)
        self._gradient.zero_()
        with arithmetic_of(self._network):
            with self._autocast:
                values = self._value(observations).float()
            total = weighted_squared_errors(values, batch.share.targets, batch.share.weights).sum()
        # The mean over the whole batch, times the number of processes because their gradients are averaged.
        loss: Tensor = total / (batch.size / self._processes.world_size)
        self._follow(loss)
        return loss.detach() / self._processes.world_size

    def _follow(self, loss: Tensor) -> None:
        """Take a step of the optimiser down the gradient of this loss."""
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step(self._learning_rate.at(self._steps))
        self._steps += 1


class _ValueOf(nn.Module):
    """The value alone, so that DistributedDataParallel does not wait for gradients of a policy head."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observations: Tensor) -> Tensor:
        return cast(Output, self.network(observations)).value


def autocast(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """A context in which networks compute with this precision where torch considers it safe."""
    return nullcontext() if precision == "float32" else torch.autocast(device.type, torch.bfloat16)


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
