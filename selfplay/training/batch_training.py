"""Training in batches, a step of the optimiser on each, for all networks."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import cast

import torch
from torch import Tensor, nn

from selfplay.architectures import Output, probe
from selfplay.compute.portable import arithmetic_of, is_portable
from selfplay.games.game import Game
from selfplay.training.examples import Batch, Examples
from selfplay.training.losses import Losses, cross_entropies, weighted_squared_errors
from selfplay.training.optimizers import LearningRate, flattened
from selfplay.training.parameters import OPTIMIZERS, LossWeights, Training
from selfplay.training.process_group import ProcessGroup


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
                output: Output = self._network(observations)
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
