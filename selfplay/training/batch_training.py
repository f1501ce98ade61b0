"""Training in batches by Adam, for all networks.

Adam works on one flat vector of all weights: torch.optim.Adam, or a compiled step of our own where the weights must be
the same bits on every processor, which torch's are not (docs/design_notes.md).
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from math import prod
from typing import ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.architectures import Output, probe
from selfplay.compute.portable import arithmetic_of, is_portable
from selfplay.compute.portable_kernels import take_adam_step
from selfplay.training.examples import Batch
from selfplay.training.losses import Losses, cross_entropies, weighted_squared_errors
from selfplay.training.trainer import TrainingJob


class BatchTraining:
    """Takes a step of Adam on each batch; each process computes the gradient of its share.

    If the batches have policies, the policy of the network is trained too, in one process. Otherwise a policy head
    keeps its weights.
    """

    runs_on_cpu_only: ClassVar[bool] = False
    one_process_only: ClassVar[bool] = False

    def __init__(self, job: TrainingJob) -> None:
        self._shape, self._learning_rate, self._steps = job.observation_shape, job.learning_rate, 0
        optimizer = job.training
        self._adam = Adam(
            job.network.parameters(),
            optimizer.weight_decay,
            optimizer.decoupled_weight_decay,
            is_portable=is_portable(job.network),
        )
        self._network, self._processes, self._loss = job.network, job.processes, job.loss
        self._epoch_losses = Losses(0.0)
        self._value: nn.Module = _ValueOf(job.network)
        if job.processes.world_size > 1:
            has_policy_head = probe(job.network, job.observation_shape).policy_logits is not None
            self._value = job.processes.data_parallel(self._value, find_unused_parameters=has_policy_head)
        self.weights = self._adam.weights
        self._autocast = autocast(job.training.precision, self.weights.device)

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """uint8[N, *observation_shape]: 0 or 1"""
        entries = np.unpackbits(packed, axis=1, count=prod(self._shape))
        return torch.from_numpy(entries).reshape(-1, *self._shape)

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        total, policy_total = torch.zeros((2,), device=self.weights.device)
        policy_loss: Tensor | None = None
        for batch in islice(batches, self._learning_rate.steps_per_epoch):
            if batch.policies is None:
                total += self._step(batch)
            else:
                value_loss, policy_loss = self._step_with_policies(batch, batch.policies)
                total += value_loss
                policy_total += policy_loss
        steps = self._learning_rate.steps_per_epoch
        value = float(self._processes.all_reduce(total)) / steps
        self._epoch_losses = Losses(value, None if policy_loss is None else float(policy_total) / steps)
        return self._epoch_losses.total(self._loss)

    def epoch_losses(self) -> Losses:
        return self._epoch_losses

    def _step_with_policies(self, batch: Batch, policies: Tensor) -> tuple[Tensor, Tensor]:
        """Take a step; returns the mean squared error of the values, and the mean cross-entropy of the policies."""
        observations, targets, weights = batch.share.to(self.weights.device)
        self._adam.zero_grad()
        with arithmetic_of(self._network):
            with self._autocast:
                output: Output = self._network(observations.float())
            assert output.policy_logits is not None, "checked before the matches of level 0"
            value_loss = weighted_squared_errors(output.value.float(), targets, weights).mean()
            policy_loss = (weights * cross_entropies(output.policy_logits.float(), policies)).mean()
        loss = self._loss.value * value_loss + self._loss.policy * policy_loss
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step(self._learning_rate.at(self._steps))
        self._steps += 1
        return value_loss.detach(), policy_loss.detach()

    def _step(self, batch: Batch) -> Tensor:
        """Take a step; returns this process's part of the loss of the batch."""
        observations, targets, weights = batch.share.to(self.weights.device)
        self._adam.zero_grad()
        with arithmetic_of(self._network):
            with self._autocast:
                values = self._value(observations.float()).float()
            total = weighted_squared_errors(values, targets, weights).sum()
        # The mean over the whole batch, times the number of processes because their gradients are averaged.
        loss: Tensor = total / (batch.size / self._processes.world_size)
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step(self._learning_rate.at(self._steps))
        self._steps += 1
        return loss.detach() / self._processes.world_size


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


BETAS, EPSILON = (0.9, 0.999), 1e-8


class Adam:
    """Adam (Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1).

    The parameters become views of one vector, and so do their gradients.

    Args:
        weight_decay: added to the gradient as weight_decay * weight; or, if `decoupled`, subtracted from the weights
            directly (Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR 2019).
        is_portable: whether weights on the CPU are the same bits on every processor (see `selfplay.compute.portable`).
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        weight_decay: float = 0.0,
        decoupled: bool = False,
        *,
        is_portable: bool = False,
    ) -> None:
        parameters = list(parameters)
        self.weights = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
        self.gradient = torch.zeros_like(self.weights)
        self.weight_decay, self.decoupled = weight_decay, decoupled
        self._optimizer: torch.optim.Adam | None = None
        if is_portable and self.weights.is_cpu:
            self._first_moment, self._second_moment = torch.zeros((2, len(self.weights))).numpy()
            self._powers = np.ones(2)
        else:
            self.weights.grad = self.gradient
            self._optimizer = torch.optim.Adam(
                [self.weights],
                betas=BETAS,
                eps=EPSILON,
                weight_decay=weight_decay,
                decoupled_weight_decay=decoupled,
                foreach=False,
            )
        start = 0
        for parameter in parameters:
            span = slice(start, start + parameter.numel())
            parameter.data = self.weights[span].view_as(parameter)
            parameter.grad = self.gradient[span].view_as(parameter)
            start = span.stop

    def zero_grad(self) -> None:
        """Set the gradient to 0. Call it before each backward pass, which adds to the gradient."""
        self.gradient.zero_()

    def step(self, learning_rate: float) -> None:
        """Update the weights with the gradient of the backward pass."""
        if self._optimizer is None:
            self._portable_step(learning_rate)
        else:
            self._optimizer.param_groups[0]["lr"] = learning_rate
            self._optimizer.step()

    def _portable_step(self, learning_rate: float) -> None:
        # Powers of the C library are not the same on every processor.
        self._powers *= BETAS
        size, root = learning_rate / (1 - self._powers[0]), np.sqrt(1 - self._powers[1])
        decay, kept = self.weight_decay, 1.0
        if self.decoupled:
            decay, kept = 0.0, 1 - learning_rate * self.weight_decay
        rates = size, root, BETAS[0], 1 - BETAS[0], BETAS[1], 1 - BETAS[1], EPSILON, decay, kept
        take_adam_step(
            self.weights.numpy(),
            self.gradient.numpy(),
            self._first_moment,
            self._second_moment,
            np.array(rates, dtype=np.float32),
        )
