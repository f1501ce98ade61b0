"""An evaluator whose values and logits are fixed pseudo-random numbers of the position."""

from functools import reduce

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.positions import packed_array
from selfplay.compute.random_numbers import fold, uniform_bits
from selfplay.games.outcomes import EndValues
from selfplay.games.rules import Position
from selfplay.search.mcts.evaluator import PositionValues


class HashedEvaluator:
    """Also counts the positions that it is asked for, and how often. `scale`: of the values."""

    name = "hashed"
    ends = EndValues(1.0, 0.0)

    def __init__(self, num_actions: int, scale: float = 1.0) -> None:
        self.num_actions, self.scale, self.asked, self.batches = num_actions, scale, 0, 0

    def evaluate(self, state) -> PositionValues:
        self.asked, self.batches = self.asked + state.batch_size, self.batches + 1
        value, logits = self.numbers(state.position)
        return PositionValues(value, logits)

    def numbers(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        word = reduce(fold, positions.unbind(dim=1))
        share = uniform_bits(fold(word[:, None], torch.arange(self.num_actions + 1))).double() / 2**53
        return self.scale * (2 * share[:, 0] - 1), 3 * share[:, 1:]

    def of_one(self, position: Position, word: np.int64) -> tuple[float, dict[int, float]]:
        """For `ReferenceSearch`."""
        value, logits = self.numbers(torch.from_numpy(packed_array([position])))
        return float(value), dict(enumerate(logits[0].tolist()))
