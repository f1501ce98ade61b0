"""Optimisers and schedules of other packages, named in the settings of a run."""

from pathlib import Path

import pytest
import torch

from selfplay import load_level
from selfplay.api.stages import learn_levels, train_level
from selfplay.architectures import build_network
from selfplay.compute.random_numbers import Activity, Purpose, stream_key, torch_seed
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.training.fitting import seeded
from tests.support.runs import tiny_settings

GAME = make_game("tictactoe")
MODULE = "tests.support.outside_training"
SIGN = f"learner.optimizer={MODULE}:SignDescent"
HALVING = f"learner.schedule={MODULE}:halving"


def test_a_level_is_trained_by_an_optimizer_and_a_schedule_of_another_package(tmp_path):
    once = [
        "numerics=native",
        "levels=1",
        "learner.epochs=1",
        "learner.steps_per_epoch=1",
        "learner.learning_rate=0.25",
    ]
    settings = tiny_settings(tmp_path, SIGN, HALVING, *once)
    learn_levels(settings)
    key = stream_key(settings.seed, 1, Activity.TRAINING)
    with seeded(torch_seed(key, Purpose.INITIAL_WEIGHTS)):
        before = build_network(settings.architecture, GAME.observation_shape, GAME.num_distinct_actions)
    moved = [
        (after - first).abs()
        for after, first in zip(load_level(tmp_path, 1).network.parameters(), before.parameters(), strict=True)
    ]
    for change in moved:
        near = torch.isclose(change, torch.tensor(0.25), atol=1e-5) | (change == 0)
        assert near.all()
    assert torch.cat([change.reshape(-1) for change in moved]).max() > 0
    assert not train_level(settings, 1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("learner.optimizer=newton", r"^learner.optimizer=newton: \w+ \w+ adam$"),
        (f"learner.optimizer={MODULE}:Missing", "optimizer '.*:Missing' cannot be imported"),
    ],
)
def test_names_that_are_not_registered_are_refused(override, message):
    with pytest.raises(SettingError, match=message.replace(r"\w+ \w+", r"[a-z ]+")):
        tiny_settings(Path("x"), override)
