"""Adam on one flat vector of all weights.

torch.optim would do the same in more operations, and importing what it needs takes longer (2.7 s) than training a
small network; the tests hold the two against each other.
"""

import math
from collections.abc import Iterable

import torch
from torch import nn

FIRST_MOMENT_DECAY = 0.9
SECOND_MOMENT_DECAY = 0.999
EPSILON = 1e-8

WARM_UP_FRACTION = 0.3
INITIAL_DIVISOR = 25.0
FINAL_DIVISOR = 1e4


class Adam:
    """Adam (Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1).

    The parameters become views into one vector, and so do their gradients.

    Args:
        weight_decay: added to the gradient as weight_decay * weight; or, if `decoupled`, taken off the weights
            directly (Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR 2019).
    """

    def __init__(self, parameters: Iterable[nn.Parameter], weight_decay: float = 0.0, decoupled: bool = False) -> None:
        parameters = list(parameters)
        self.weights = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
        self.gradient = torch.zeros_like(self.weights)
        self.first_moment = torch.zeros_like(self.weights)
        self.second_moment = torch.zeros_like(self.weights)
        self.weight_decay, self.decoupled = weight_decay, decoupled
        self.steps = 0
        start = 0
        for parameter in parameters:
            span = slice(start, start + parameter.numel())
            parameter.data = self.weights[span].view_as(parameter)
            parameter.grad = self.gradient[span].view_as(parameter)
            start = span.stop

    def zero_grad(self) -> None:
        """Forget the gradient; call it before each backward pass."""
        self.gradient.zero_()

    def step(self, learning_rate: float) -> None:
        """Move the weights by the gradient that the backward pass left."""
        self.steps += 1
        gradient = self.gradient
        if self.weight_decay and self.decoupled:
            self.weights.mul_(1 - learning_rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient.add(self.weights, alpha=self.weight_decay)
        self.first_moment.lerp_(gradient, 1 - FIRST_MOMENT_DECAY)
        self.second_moment.mul_(SECOND_MOMENT_DECAY).addcmul_(gradient, gradient, value=1 - SECOND_MOMENT_DECAY)
        first_correction = 1 - FIRST_MOMENT_DECAY**self.steps
        second_correction = math.sqrt(1 - SECOND_MOMENT_DECAY**self.steps)
        denominator = self.second_moment.sqrt().div_(second_correction).add_(EPSILON)
        self.weights.addcdiv_(self.first_moment, denominator, value=-learning_rate / first_correction)


def scheduled_learning_rate(schedule: str, peak: float, step: int, total_steps: int) -> float:
    """The learning rate of step `step` in range(total_steps).

    "constant" is `peak` throughout. "one_cycle" (Smith & Topin, "Super-convergence", 2018) rises from peak / 25 to
    `peak` in the first 30 % of the steps and falls to peak / 250,000 at the last, both along half a cosine.
    """
    if schedule == "constant":
        return peak
    initial = peak / INITIAL_DIVISOR
    rising = WARM_UP_FRACTION * total_steps - 1
    if step <= rising:
        start, end, fraction = initial, peak, step / rising if rising > 0 else 1.0
    else:
        falling = total_steps - 1 - rising
        start, end, fraction = peak, initial / FINAL_DIVISOR, (step - rising) / falling
    return end + (start - end) / 2 * (1 + math.cos(math.pi * fraction))
