"""Tables that are trained on all lessons together: until no mistake is left, or as long as somebody wants it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from selfplay.training.expert_iteration import MOST_TRAININGS_BY_SEARCH, learn_together

LESSONS: Any = SimpleNamespace(position=np.zeros((4, 2)), poor=np.array([0, 2, 0, 1]))


class Apprentice:
    """Makes mistakes in the last of four positions until it was trained so often."""

    game = SimpleNamespace(max_game_length=9)

    def __init__(self, needed: int) -> None:
        self.needed, self.trained, self.judged = needed, list[tuple[list[int], int]](), list[list[int]]()

    def learn(self, lessons: object, rows: NDArray[np.int64], ply: int) -> None:
        self.trained.append((rows.tolist(), ply))

    def mistakes(self, lessons: object, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (rows == 3) & (len(self.trained) < self.needed)

    def judge_all(self, lessons: object, rows: NDArray[np.int64]) -> None:
        self.judged.append(rows.tolist())


@pytest.mark.parametrize(
    ("needed", "wanted", "trainings"), [(1, 99, 1), (3, 99, 3), (3, 2, 2), (99, 99, MOST_TRAININGS_BY_SEARCH)]
)
def test_training_ends_without_mistakes_or_when_it_is_not_wanted_any_more_or_after_some_times(
    needed: int, wanted: int, trainings: int
) -> None:
    made: Any = Apprentice(needed)
    learn_together(made, LESSONS, lambda _: len(made.trained) >= wanted)
    # Those with poor actions, each time with the random numbers of another ply.
    assert made.trained == [([1, 3], 9 + number) for number in range(trainings)]
    # The expert is asked about the positions in which a mistake is left.
    assert made.judged == [[3] if number + 1 < needed else [] for number in range(trainings)]
