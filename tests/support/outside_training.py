"""What another package could add to training: networks, target rules, an optimiser and a schedule."""

from itertools import islice
from math import prod

import numpy as np
import torch
from torch import nn

from selfplay.architectures import Output
from selfplay.dataset.target_rules import full
from selfplay.training.trainer import Trainer


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


def not_a_class(observation_shape):
    return PlainTensor(observation_shape)


class SignDescent(Trainer):
    """Moves every weight against the sign of its gradient, by the learning rate."""

    runs_on_cpu_only = True
    one_process_only = True

    def __init__(self, job):
        self.network, self.shape = job.network, job.observation_shape
        self.learning_rate, self.steps = job.learning_rate, 0
        self.weights = nn.utils.parameters_to_vector(job.network.parameters()).detach()
        start = 0
        for parameter in job.network.parameters():
            parameter.data = self.weights[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()

    def inputs(self, packed):
        entries = np.unpackbits(packed, axis=1, count=prod(self.shape))
        return torch.from_numpy(entries).reshape(-1, *self.shape)

    def run_epoch(self, batches):
        total = 0.0
        for batch in islice(batches, self.learning_rate.steps_per_epoch):
            observations, targets, weights = batch.share
            self.network.zero_grad()
            loss = (weights * (self.network(observations.float()).value - targets).square()).mean()
            loss.backward()
            for parameter in self.network.parameters():
                if parameter.grad is not None:
                    parameter.data -= self.learning_rate.at(self.steps) * parameter.grad.sign()
            self.steps += 1
            total += loss.item()
        return total / self.learning_rate.steps_per_epoch


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
