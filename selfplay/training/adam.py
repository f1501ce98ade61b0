"""Adam on one flat vector of all weights, by `torch.optim.adam.adam`, the function behind torch.optim.Adam.

torch.optim.Adam takes the same steps, but its first instance imports torch._dynamo, which takes longer than training a
small network (docs/design_notes.md).
"""

from collections.abc import Iterable

import torch
from torch import nn
from torch.optim.adam import adam


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
        self.steps = torch.tensor(0.0)
        self.weight_decay, self.decoupled = weight_decay, decoupled
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
        adam(
            [self.weights],
            [self.gradient],
            [self.first_moment],
            [self.second_moment],
            max_exp_avg_sqs=[],
            state_steps=[self.steps],
            foreach=False,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=learning_rate,
            weight_decay=self.weight_decay,
            eps=1e-8,
            maximize=False,
            decoupled_weight_decay=self.decoupled,
        )
