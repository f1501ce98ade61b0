"""What another package could add to training: networks, target rules, an optimiser and a schedule."""

import torch
from torch import nn

from selfplay.architectures import Output
from selfplay.dataset.target_rules import full


class PolicyNetwork(nn.Module):
    """A hidden layer with a value head and a policy head."""

    def __init__(self, observation_shape, num_actions, width=16):
        super().__init__()
        size = torch.Size(observation_shape).numel()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(size, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.policy = nn.Linear(width, num_actions)

    def forward(self, observations):
        hidden = self.body(observations)
        return Output(self.value(hidden).squeeze(1), self.policy(hidden))


class Returning(nn.Module):
    """Returns what the class attribute says, made of a column of values (float32[N, 1])."""

    def __init__(self, observation_shape):
        super().__init__()
        self.linear = nn.Linear(torch.Size(observation_shape).numel(), 1)

    def forward(self, observations):
        return self.output_of(self.linear(observations.flatten(1)))


class PlainTensor(Returning):
    def output_of(self, column):
        return column


class TwoValues(Returning):
    def output_of(self, column):
        return Output(torch.cat([column, column], dim=1))


class FewActions(Returning):
    def output_of(self, column):
        return Output(column[:, 0], column.repeat(1, 3))


class Raising(Returning):
    def output_of(self, column):
        raise KeyError("hm")


class NotANumber(Returning):
    def output_of(self, column):
        return Output(column[:, 0] * torch.nan)


class Detached(Returning):
    def output_of(self, column):
        return Output(column[:, 0].detach())


class Uninitialised(nn.Module):
    def __init__(self, observation_shape):
        self.linear = nn.Linear(2, 1)


class UninitialisedWithoutLayers(nn.Module):
    def __init__(self, observation_shape):
        self.width = 1


class WithoutShape(nn.Module):
    def __init__(self):
        super().__init__()


class ComputingWithWeights(Returning):
    """Needs weights that are numbers, which those on torch's meta device are not."""

    def __init__(self, observation_shape):
        super().__init__(observation_shape)
        self.largest = self.linear.weight.max().item()

    def output_of(self, column):
        return Output(column[:, 0] / self.largest)


class Weightless(nn.Module):
    """Values every position by its sum."""

    def __init__(self, observation_shape):
        super().__init__()

    def forward(self, observations):
        return Output(observations.flatten(1).sum(1))


def not_a_class(observation_shape):
    return PlainTensor(observation_shape)


class SignDescent:
    """Moves every weight against the sign of its gradient, by the learning rate."""

    def __init__(self, weights, gradient, training, *, is_portable):
        self.weights, self.gradient = weights, gradient

    def step(self, learning_rate):
        self.weights -= learning_rate * self.gradient.sign()


def halving(peak, step, total_steps):
    """Half the rate of the step before."""
    return peak * 0.5**step


def halved(played):
    """A target rule: every position is worth half of the undiscounted outcome."""
    return full(played._replace(gamma=1.0)) / 2


def doubled(played):
    """Targets out of range."""
    return full(played) * 2


def cut_off(played):
    """Targets of the wrong shape."""
    return full(played)[1:]
