"""Target rules of other modules, and those that are refused."""

import pytest

from selfplay.api.stages import generate_level, learn_levels
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from tests.support.dataset_tools import read_dataset
from tests.support.runs import tiny_settings

GAME = make_game("tictactoe")
MODULE = "tests.support.outside_training"


def test_a_target_rule_of_another_module_makes_the_targets_of_a_level(tmp_path):
    run = RunFolder(tmp_path / "run")
    settings = tiny_settings(run.path, f"learner.targets={MODULE}:halved", "levels=1")
    learn_levels(settings)
    for level in (0, 1):
        generate_level(settings, level)
        rows = read_dataset(run.dataset(level), GAME.observation_codec)
        assert set(rows.target.tolist()) == {-0.5, 0.0, 0.5}
        assert Manifest(run.level(level)).sections["generation"]["settings"]["learner.targets"] == f"{MODULE}:halved"
    with pytest.raises(StageError, match=f"targets was .*{MODULE}:halved"):
        generate_level(tiny_settings(run.path), 0)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("doubled", r"targets: the rule gives a target of -?[12]"),
        ("cut_off", r"targets: the rule gives targets of shape \[8, 300\]; \[9, 300\] are needed"),
    ],
)
def test_wrong_targets_of_a_rule_are_refused(tmp_path, rule, message):
    with pytest.raises(SettingError, match=message):
        generate_level(tiny_settings(tmp_path / "run", f"learner.targets={MODULE}:{rule}"), 0)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("learner.targets=everything", r"^learner.targets=everything: .*full or watkins"),
        (f"learner.targets={MODULE}:nothing", f"target rule '{MODULE}:nothing' cannot be imported"),
        ("learner.outcome=points", r"^learner.outcome=points: .*return or disc_difference"),
    ],
)
def test_an_unknown_rule_or_outcome_is_refused_when_settings_are_composed(tmp_path, override, message):
    with pytest.raises(SettingError, match=message):
        tiny_settings(tmp_path / "run", override)
    assert not (tmp_path / "run").exists()
