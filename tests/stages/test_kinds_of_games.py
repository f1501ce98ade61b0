"""Runs of games whose observations hide a part of the position, or in which the same player may move again."""

from pathlib import Path

import pytest

from selfplay.api.stages import generate_level, learn_levels
from selfplay.compute.positions import field_values
from selfplay.grading.proof import Grader
from selfplay.runs.levels import agent_of_level
from selfplay.runs.run_folder import RunFolder
from tests.support.dataset_tools import read_dataset, rows_are_equal
from tests.support.dots import TwoBoxes
from tests.support.kalah import SmallKalah
from tests.support.runs import report_of_comparison, tiny_settings
from tests.support.waits import WAIT, Waits

HIDING = ["game=tests.support.waits:Waits", "matches=40", "levels=1", "learner.epochs=1", "comparison.matches=20"]
POLICY = ["learner=policy", "architecture=alphazero_mlp", "architecture.hidden_sizes=[8]", "learner.simulations=4"]


@pytest.mark.parametrize("kind", [[], pytest.param(POLICY, marks=pytest.mark.slow)], ids=["values", "policies"])
def test_levels_learn_a_game_whose_observation_hides_a_counter(tmp_path: Path, kind: list[str]) -> None:
    game, found = Waits(), []
    for form in ("csv", "parquet"):
        settings = tiny_settings(tmp_path / form, *HIDING, *kind, f"dataset.format={form}")
        learn_levels(settings)
        generate_level(settings, 1)
        found.append(read_dataset(RunFolder(tmp_path / form).dataset(1, form), game.observation_codec))
    rows, others = found
    assert rows_are_equal(rows, others)
    waits = field_values(game.rules.position, rows.position, "waits")
    assert set(waits.tolist()) == {0, 1, 2}
    if rows.policy is not None:
        assert set((rows.policy[:, WAIT] > 0)[waits == 0].tolist()) == {False}
        assert (rows.policy[:, WAIT] > 0)[waits > 0].any()
    if not kind:
        assert "Level 1" in str(report_of_comparison(settings))


@pytest.mark.slow
def test_levels_learn_a_game_in_which_the_same_player_may_move_again(tmp_path: Path) -> None:
    learning = ["matches=3000", "levels=2", "learner.epochs=8", "learner.steps_per_epoch=60", "learner.gamma=1"]
    learn_levels(tiny_settings(tmp_path, "game=tests.support.dots:TwoBoxes", *learning))
    grade = Grader(TwoBoxes()).grade(agent_of_level(tmp_path, 2, TwoBoxes()).player())
    # The random player plays a best action in two thirds of the positions.
    assert grade.wins_given_away.lost == 0
    assert grade.optimal_action_rate > 0.95


@pytest.mark.slow
def test_levels_learn_a_game_whose_positions_are_several_numbers(tmp_path: Path) -> None:
    learning = ["matches=3000", "levels=1", "learner.epochs=8", "learner.steps_per_epoch=60"]
    learn_levels(tiny_settings(tmp_path, "game=tests.support.kalah:SmallKalah", *learning))
    grade = Grader(SmallKalah()).grade(agent_of_level(tmp_path, 1, SmallKalah()).player())
    # The random player plays a best action in 87 % of the positions.
    assert grade.optimal_action_rate > 0.95
