"""Adam on one flat vector of all weights.

torch.optim.Adam gives the same weights up to rounding, as a test shows, but its import takes longer than training a
small network (docs/design_notes.md).
"""

import math
from collections.abc import Iterable

import torch
from torch import nn

FIRST_MOMENT_DECAY = 0.9
SECOND_MOMENT_DECAY = 0.999
EPSILON = 1e-8


class Adam:
    """Adam (Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1).

    The parameters become views of one vector, and so do their gradients.

    Args:
        weight_decay: added to the gradient as weight_decay * weight; or, if `decoupled`, subtracted from the weights
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
        """Set the gradient to 0. Call it before each backward pass, which adds to the gradient."""
        self.gradient.zero_()

    def step(self, learning_rate: float) -> None:
        """Update the weights with the gradient of the backward pass."""
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
