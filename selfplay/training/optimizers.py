"""Optimisers: how the weights of a network follow their gradient, and how far in each step, the learning rate.

The weights are one vector, whatever the network.

Adam is torch.optim.Adam, or a compiled step of our own where the weights must be the same bits on every processor,
which torch's are not.

Schedules of the learning rate are functions of (peak, step, total_steps), with `step` in range(total_steps).
`one_cycle` is that of torch with a cosine that is the same on every processor (`selfplay.compute.elementary`); torch's
is that of the C library.
"""

import math
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn

from selfplay.compute.elementary import cosine, power
from selfplay.compute.portable_kernels import take_adam_step
from selfplay.training.parameters import SCHEDULES, Training

BETAS, EPSILON = (0.9, 0.999), 1e-8


def flattened(parameters: Iterable[nn.Parameter]) -> tuple[Tensor, Tensor]:
    """The weights and the gradients of these parameters, which become views of the two vectors."""
    parameters = list(parameters)
    weights = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
    gradient, start = torch.zeros_like(weights), 0
    for parameter in parameters:
        span = slice(start, start + parameter.numel())
        parameter.data = weights[span].view_as(parameter)
        parameter.grad = gradient[span].view_as(parameter)
        start = span.stop
    return weights, gradient


class Adam:
    """Adam (Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1).

    Args:
        weights: of the network, which `step` changes in place.
        gradient: theirs, which is computed anew before each step.
        training: `weight_decay` is added to the gradient as weight_decay * weight; or, if `decoupled_weight_decay`,
            subtracted from the weights directly (Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR
            2019).
        is_portable: whether weights on the CPU are the same bits on every processor (see `selfplay.compute.portable`).
    """

    def __init__(self, weights: Tensor, gradient: Tensor, training: Training, *, is_portable: bool = False) -> None:
        self.weights, self.gradient = weights, gradient
        self.weight_decay, self.decoupled = training.weight_decay, training.decoupled_weight_decay
        self._optimizer: torch.optim.Adam | None = None
        if is_portable and weights.is_cpu:
            self._first_moment, self._second_moment = torch.zeros((2, len(weights))).numpy()
            self._powers = np.ones(2)
        else:
            weights.grad = gradient
            self._optimizer = torch.optim.Adam(
                [weights],
                betas=BETAS,
                eps=EPSILON,
                weight_decay=self.weight_decay,
                decoupled_weight_decay=self.decoupled,
                foreach=False,
            )

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


class LearningRate:
    """The learning rate of each step of the training of a level.

    Args:
        rows: number of training examples in a pass.
        level: from 1; the learning rate may decay from level to level.
    """

    def __init__(self, training: Training, rows: int, level: int) -> None:
        self.steps_per_epoch = training.steps_per_epoch or -(-rows // training.batch_size)
        self._total_steps = training.epochs * self.steps_per_epoch
        self._schedule = SCHEDULES[training.schedule]
        self._peak = training.learning_rate * power(training.level_decay, level - 1)

    def at(self, step: int) -> float:
        """The learning rate of step `step`, counted from 0 over all epochs."""
        return float(self._schedule(self._peak, step, self._total_steps))


WARM_UP_FRACTION = 0.3
INITIAL_DIVISOR = 25.0
FINAL_DIVISOR = 1e4


def constant(peak: float, step: int, total_steps: int) -> float:
    """`peak` at every step."""
    return peak


def one_cycle(peak: float, step: int, total_steps: int) -> float:
    """Rise from peak / 25 to `peak` in the first 30 % of the steps, then fall to peak / 250,000, each along half a
    cosine (Smith & Topin, "Super-convergence", 2018; torch.optim.lr_scheduler.OneCycleLR).
    """
    initial = peak / INITIAL_DIVISOR
    rising = WARM_UP_FRACTION * total_steps - 1
    if step <= rising:
        start, end, fraction = initial, peak, step / rising if rising > 0 else 1.0
    else:
        falling = total_steps - 1 - rising
        start, end, fraction = peak, initial / FINAL_DIVISOR, (step - rising) / falling
    return end + (start - end) / 2 * (1 + cosine(math.pi * fraction))
