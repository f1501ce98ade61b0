"""The learning rate of a step and a level."""

import pytest

from selfplay.settings.sections import OptimizerSettings, TrainingSettings
from selfplay.training.trainer import LearningRate


def test_the_learning_rate_falls_from_level_to_level():
    optimizer = OptimizerSettings(learning_rate=0.4, level_decay=0.5, schedule="constant")
    settings = TrainingSettings(epochs=2, steps_per_epoch=3, optimizer=optimizer)
    for level, rate in ((1, 0.4), (2, 0.2), (4, 0.05)):
        schedule = LearningRate(settings, rows=10, level=level)
        assert [schedule.at(step) for step in range(6)] == pytest.approx([rate] * 6)


def test_a_decayed_schedule_is_a_scaled_schedule_of_the_first_level():
    settings = TrainingSettings(
        epochs=3, steps_per_epoch=None, batch_size=4, optimizer=OptimizerSettings(level_decay=0.8)
    )
    first, third = (LearningRate(settings, rows=10, level=level) for level in (1, 3))
    # One pass over 10 rows is three batches.
    assert first.steps_per_epoch == 3
    rates = [first.at(step) for step in range(9)]
    assert len(set(rates)) > 5
    assert [third.at(step) for step in range(9)] == pytest.approx([rate * 0.8**2 for rate in rates])
