"""Settings that cannot work are rejected when they are read, or before level 0 is played."""

import re
from pathlib import Path

import pytest

from selfplay.api.stages import generate_level, learn_levels
from selfplay.checks import check_parameters
from selfplay.errors import SettingError
from selfplay.named_players.names import whole_number_in_name
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.settings.playing import PlaySettings, WebSettings
from selfplay.settings.run import Settings
from selfplay.training.parameters import Training
from tests.support.rejections import assert_refused
from tests.support.runs import LEARN, run_forked, tiny_settings


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (f"matches={10**23}", r"matches=1\S*: must be from 2 to 1,000,000,000"),
        (f"level={10**30}", r"level=1\S*: must be from 0 to"),
        ("threads=1000000", "threads=1000000: must be from 1 to 1,024"),
        ("learner.weight_power=nan", "learner.weight_power=nan: must be from -10 to 10"),
        ("learner=td learner.step_size=1e9", "learner.step_size=1000000000.0: must be above 0 and at most 10"),
        ("learner=td learner.sharpness=1e9", "learner.sharpness=1000000000.0: must be from 0 to 100"),
        ("learner=policy learner.policy_weight=1e300", "learner.policy_weight=1e.300: must be from 0 to 1,000"),
        ("learner=policy learner.temperature=1e300", "learner.temperature=1e.300: must be from 0 to 1,000,000"),
        ("player.temperature=1e300", "player.temperature=1e.300: must be from 0 to 1,000,000"),
        ("comparison.pair_seconds=1e300", "comparison.pair_seconds=1e.300: must be above 0 and at most 1000000"),
        ("executor.workers=1000000000", "executor.workers=1000000000: must be from 1 to 4,096"),
        ("learner=expert learner.margin=50", "learner.margin=50.0: must be above 0 and at most 1"),
        ("learner=expert learner.reply_depth=1000", "learner.reply_depth=1000: must be from 1 to 120"),
        ("learner=expert learner.tolerance=3", "learner.tolerance=3.0: must be from 0 to 2"),
        ("learner=expert learner.slack=3", "learner.slack=3.0: must be from 0 to 2"),
        ("learner=expert learner.noise=3", "learner.noise=3.0: must be from 0 to 2"),
        ("force=-1", "force=-1: must be true or false"),
        ("learner.merge=2", "learner.merge=2: must be true or false"),
        ("output_dir=''", "output_dir=: must be a path"),
        ("agent_file=''", "agent_file=: must be a path"),
        ("comparison.references=[foo]", "unknown player 'foo' in comparison.references; choose from beginner, "),
        ("modules=[nowhere]", "modules=nowhere: must be modules that can be imported from here"),
    ],
)
def test_absurd_numbers_and_unknown_names_are_rejected(override, message):
    with pytest.raises(SettingError, match=f"^{message}"):
        tiny_settings(Path("x"), *override.split())


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("architecture.hidden_sizes=[90000,90000]", "more than 1,073,741,824"),
        (
            "architecture=ntuple_othello",
            r"^architecture.patterns: .*; set architecture=ntuple for a board of another size$",
        ),
        ("game=sumto100 architecture=alphazero_residual", "; set architecture=alphazero_mlp$"),
        ("game=sumto100 architecture=alphazero_convolutional", "; set architecture=alphazero_mlp$"),
        (
            "game=go_3x3 architecture=ntuple",
            "tables of patterns need .* at most 64 squares, .*; set another architecture or way of learning$",
        ),
        ("architecture=othello_features", "; set game=othello or another architecture$"),
        (
            f"architecture.hidden_sizes=[{','.join('1' * 1001)}]",
            "^architecture.hidden_sizes=.*: must be at most 1,000 sizes",
        ),
        ("game=connect_four architecture=residual architecture.blocks=1000000", "blocks=1000000: must be .* to 1,000"),
        ("game=connect_four architecture=ntuple architecture.drops=-1", "architecture.drops=-1: must be true or false"),
        ("learner.opening_plies=10", "^learner.opening_plies=10: matches of tictactoe have at most 9 plies$"),
        ("player.depth=4", "^player.depth=4: a network searches 1 to 3 plies ahead"),
    ],
)
def test_levels_that_cannot_be_built_are_rejected_before_level_0_is_played(tmp_path, override, message):
    with pytest.raises(SettingError, match=message):
        generate_level(tiny_settings(tmp_path / "run", *override.split()), 0)
    assert not (tmp_path / "run" / "level_00").exists()


@pytest.mark.parametrize(
    ("overrides", "level"),
    [("matches=2 seed=1", 1), ("matches=6 levels=30", r"\d+"), ("learner.validation_fraction=1e-300", 1)],
)
def test_too_few_matches_to_hold_some_out_are_refused_before_level_0_is_played(tmp_path, overrides, level):
    message = rf"^\d+ matches are too few to hold out .* in level {level}; give more$"
    with pytest.raises(SettingError, match=message):
        learn_levels(tiny_settings(tmp_path / "run", "learner.validation_fraction=0.1", *overrides.split()))
    assert not (tmp_path / "run" / "level_00").exists()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"symmetries": -1}, "symmetries=-1: must be true or false"),
        ({"epochs": 1.5}, "epochs=1.5: must be a whole number"),
        ({"learning_rate": "0.1"}, "learning_rate=0.1: must be above 0"),
        ({"optimizer": None}, "optimizer=None: must be adam"),
    ],
)
def test_parameters_of_other_types_are_refused_in_python_as_in_a_command(parameters, message):
    with pytest.raises(SettingError, match=rf"^training\.{re.escape(message)}"):
        check_parameters(Training(**parameters), "training.")


def test_large_numbers_in_names_of_players_are_rejected():
    text = "1" * 5000
    with pytest.raises(SettingError, match="the level must be at most 1,000,000,000"):
        whole_number_in_name(f"level:{text}", text, "the level")


def test_a_run_dir_that_is_not_utf8_and_a_number_of_5000_digits_are_rejected_in_one_line(tmp_path):
    for argument in (f"run_dir={tmp_path}/\udcff", f"matches={'1' * 5000}", f"run_dir={tmp_path}/a\nb"):
        result = run_forked(LEARN, argument, "levels=1")
        assert_refused(result, 2)
        assert len(result.stderr) < 600


CONFIGS = {
    Settings: "config",
    MatchSettings: "matches",
    PlaySettings: "play",
    WebSettings: "web",
    TabularSettings: "tabular",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONFIGS)
def test_empty_and_nested_values_are_refused_or_read_in_one_line(kind):
    config = CONFIGS[kind]
    for name in kind.__dataclass_fields__:
        for value in ("[]", "{}", "null", "[[]]", "{a:[]}", "''"):
            message = ""
            try:
                compose_settings_of(kind, config, [f"{name}={value}"])
            except SettingError as error:
                message = str(error)
            assert message or not (CONFIG_FOLDER / name).is_dir(), f"{name}={value}"
            assert "\n" not in message
            assert len(message) < 1000
