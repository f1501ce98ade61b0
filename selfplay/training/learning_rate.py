"""The learning rate of each step of training.

Schedules are functions of (peak, step, total_steps), with `step` in range(total_steps). `one_cycle` is that of torch
with a cosine that is the same on every processor (`selfplay.compute.elementary`); torch's is that of the C library.
"""

import math

from selfplay.compute.elementary import cosine, power
from selfplay.training.parameters import SCHEDULES, Training


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
