"""The settings of a run: every file of conf/ composes, and values out of range are refused by name."""

import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from selfplay.architectures import build_network
from selfplay.errors import SettingError
from selfplay.games import GAMES, make_game
from selfplay.settings.analysis import AnalysisSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.config_errors import one_line
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.settings.folders import CONFIG_FOLDER, PROJECT_FOLDER
from selfplay.settings.matches import MatchSettings, TournamentSettings
from selfplay.settings.run import Settings, compose_settings
from selfplay.settings.tabular import CompeteSettings, TabularSettings

PROGRAMS = {
    "game_tree": (AnalysisSettings, "analysis"),
    "agent": (TabularSettings, "tabular"),
    "experience": (ExperienceGraphSettings, "experience_graph"),
}
"""Groups that belong to a program beside the loop."""

READ_OTHERWISE = {"evaluation"}
"""Groups whose files are read by name; tests/search/test_evaluation.py reads them all."""

GROUPS = sorted(group for group in CONFIG_FOLDER.iterdir() if group.is_dir() and group.name not in READ_OTHERWISE)
FILES = [path for group in GROUPS for path in sorted(group.glob("*.yaml"))]


def options(group):
    return sorted(path.stem for path in (CONFIG_FOLDER / group).glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}={path.stem}")
def test_every_file_of_conf_composes(path):
    kind, config = PROGRAMS.get(path.parent.name, (Settings, "config"))
    assert isinstance(compose_settings_of(kind, config, [f"{path.parent.name}={path.stem}"]), kind)


@pytest.mark.parametrize("recipe", options("recipe"))
def test_every_recipe_builds_its_game_and_network(recipe):
    settings = compose_settings([f"recipe={recipe}"])
    game = make_game(settings.game.name)
    network = build_network(settings.architecture, game.observation_shape, game.num_distinct_actions)
    assert network(game.observe(game.init(3))).value.shape == (3,)


@pytest.mark.parametrize("name", options("architecture"))
def test_every_architecture_is_the_one_its_file_describes(name):
    settings = compose_settings([f"architecture={name}"])
    assert settings.architecture == OmegaConf.to_container(
        OmegaConf.load(CONFIG_FOLDER / "architecture" / f"{name}.yaml")
    )


def test_every_game_has_its_file_and_its_run_dir():
    assert set(options("game")) == set(GAMES)
    for name in GAMES:
        settings = compose_settings([f"game={name}"])
        assert settings.game.name == name
        assert settings.run_dir == str(PROJECT_FOLDER / "outputs" / name)


def test_recipe_default_learns_best_responses_to_a_player_that_explores():
    settings = compose_settings()
    assert (settings.targets, settings.gamma, settings.epsilons) == ("best_response", 0.9, [1.0, 1.0, 0.4])
    assert settings.architecture == {"name": "mlp", "hidden_sizes": [128, 128, 64], "dropout": 0.0}
    assert (settings.levels, settings.matches) == (10, 60000)
    assert compose_settings(["architecture=conv"]).architecture["name"] == "conv"


def test_recipe_article_has_the_settings_of_the_french_article():
    settings = compose_settings(["recipe=article"])
    assert (settings.levels, settings.matches, settings.gamma, settings.epsilons) == (17, 30000, 0.95, [0.5, 0.5, 0.1])
    assert settings.architecture == {"name": "mlp", "hidden_sizes": [1024], "dropout": 0.5}
    training, optimizer = settings.training, settings.training.optimizer
    assert (training.batch_size, training.epochs, training.steps_per_epoch) == (64, 5, None)
    assert (training.validation_fraction, training.symmetries, training.merge) == (0.2, False, False)
    assert (optimizer.learning_rate, optimizer.weight_decay, optimizer.schedule) == (1e-4, 1e-5, "constant")
    assert not optimizer.decoupled_weight_decay
    assert (settings.comparison.matches, settings.comparison.epsilons) == (1000, [0.5, 0.5, 0.1])


def test_recipe_sumto100_has_the_settings_of_its_article():
    settings = compose_settings(["recipe=sumto100"])
    assert settings.game.name == "sumto100"
    assert (settings.levels, settings.matches, settings.gamma) == (25, 5000, 0.98)
    assert settings.architecture == {"name": "mlp", "hidden_sizes": [512], "dropout": 0.0}
    assert settings.training.optimizer.learning_rate == 1e-3


def test_the_command_line_overrides_the_recipe():
    overrides = ["recipe=article", "levels=3", "training.epochs=1", "architecture=mlp", "epsilons=[0.3]"]
    for order in (overrides, overrides[::-1]):
        settings = compose_settings(order)
        assert (settings.levels, settings.training.epochs, settings.epsilons) == (3, 1, [0.3])
        assert settings.architecture["hidden_sizes"] == [256]
        assert settings.gamma == 0.95


def test_the_tabular_agents_have_the_settings_of_their_sources():
    backward, temporal = (
        compose_settings_of(TabularSettings, "tabular", [f"agent={name}"])
        for name in ("backward_value", "temporal_difference")
    )
    assert (backward.episodes, backward.alpha, backward.step_size, backward.epsilon) == (20_000, 0.5, None, 0.1)
    assert (temporal.episodes, temporal.alpha, temporal.step_size, temporal.epsilon) == (100_000, None, 0.1, 0.01)
    compete = compose_settings_of(CompeteSettings, "compete")
    assert (compete.tables, compete.matches, compete.epsilon) == ("temporal_difference", 1000, 0.0)


@pytest.mark.parametrize(
    ("kind", "config", "override", "named"),
    [
        (TabularSettings, "tabular", "episodes=0", "episodes"),
        (TabularSettings, "tabular", "epsilon=1.5", "epsilon"),
        (TabularSettings, "tabular", "step_size=0", "step_size"),
        (TabularSettings, "tabular", "step_size=nan", "step_size"),
        (TabularSettings, "tabular", "agent=best", "best"),
        (MatchSettings, "matches", "matches=0", "matches"),
        (MatchSettings, "matches", "report_every=0", "report_every"),
        (TournamentSettings, "tournament", "matches=1", "matches"),
        (TournamentSettings, "tournament", "epsilons=[2]", "epsilons"),
        (TournamentSettings, "tournament", "players=[random]", "players"),
        (TournamentSettings, "tournament", "players=[random,random]", "players"),
    ],
)
def test_a_wrong_setting_of_another_program_is_refused_by_name(kind, config, override, named):
    with pytest.raises(SettingError, match=named) as caught:
        compose_settings_of(kind, config, [override])
    assert "\n" not in str(caught.value)


OUT_OF_RANGE = [
    "player.depth=0",
    "player.temperature=-0.1",
    "executor.name=cluster",
    "training.optimizer.learning_rate=0",
    "training.optimizer.learning_rate=nan",
    "training.optimizer.weight_decay=-1",
    "training.optimizer.weight_decay=nan",
    "training.optimizer.schedule=sometimes",
    "training.optimizer.name=newton",
    "training.optimizer.level_decay=0",
    "training.optimizer.level_decay=1.5",
    "outcome=points",
    "logger=paper",
    "training.epochs=0",
    "training.steps_per_epoch=0",
    "training.batch_size=0",
    "training.validation_fraction=0",
    "training.validation_fraction=1",
    "training.validation_fraction=nan",
    "comparison.matches=1",
    "comparison.opening_plies=-1",
    "comparison.every=0",
    "comparison.earlier_matches=1",
    "comparison.endgames=-1",
    "comparison.epsilons=[]",
    "comparison.epsilons=[0.5,1.5]",
    "seed=9223372036854775808",
    "level=-1",
    "levels=0",
    "matches=1",
    "gamma=1.1",
    "gamma=-0.1",
    "gamma=nan",
    "epsilons=[]",
    "epsilons=[-0.1]",
    "epsilons=[nan]",
    "viewpoints=mine",
    "batch_size=0",
    "threads=0",
]


def test_workers_out_of_range_are_refused():
    with pytest.raises(SettingError, match=r"^executor.workers=0: must be 1 or more, or null$"):
        compose_settings(["executor=process", "executor.workers=0"])


@pytest.mark.parametrize("override", OUT_OF_RANGE)
def test_a_value_out_of_range_is_refused_with_the_settings_name(override):
    name = override.partition("=")[0]
    with pytest.raises(SettingError, match=f"^{name}=.*: must be ") as caught:
        compose_settings([override])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("levels=many", "levels"),
        ("levels=1.5", "levels"),
        ("gamma=high", "gamma"),
        ("epsilons=0.5", "epsilons"),
        ("epsilons=[a]", "epsilons"),
        ("training.merge=maybe", "merge"),
        ("level=x", "level"),
        ("levels=null", "levels"),
        ("nothing=1", "nothing"),
        ("training.nothing=1", "nothing"),
        ("+training.nothing=1", "nothing"),
        ("recipe=best", "best"),
        ("game=chess", "chess"),
        ("architecture=transformer", "transformer"),
        ("levels", "levels"),
    ],
)
def test_a_value_of_the_wrong_type_and_an_unknown_name_are_refused_in_one_line(override, named):
    with pytest.raises(SettingError, match=named) as caught:
        compose_settings([override])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("levels=many", "levels=many: must be a whole number"),
        ("gamma=high", "gamma=high: must be a number"),
        ("levels=null", "levels=null: must be a whole number"),
        ("training.merge=maybe", "training.merge=maybe: must be true or false"),
        ("epsilons=0.5", "epsilons=0.5: must be a list, such as [1,2]"),
        ("epsilons=[a]", "epsilons[0]=a: must be a number"),
        ("epsilons={a:1}", "epsilons={a:1}: must have the form of its default, which --help shows"),
        ("training=3", "training=3: is a group of settings; set one, such as training.epochs"),
        ("+training.nothing=1", "unknown setting 'training.nothing'; --help shows all"),
        ("executor=best", "executor=best: choose from process, ray, serial"),
        ("levels=1,2", "levels=1,2: write a list as [1,2], a text with commas in quotes, and several runs with -m"),
        ("levels", "levels: write a setting as name=value"),
        ("run_dir=", "run_dir=: must be the path of a folder; . is the current one"),
    ],
)
def test_an_error_begins_with_the_setting_and_names_no_class_of_the_program(override, line):
    with pytest.raises(SettingError) as caught:
        compose_settings([override])
    assert str(caught.value) == line


def test_an_option_of_another_program_is_refused_without_the_name_of_its_file():
    with pytest.raises(SettingError, match=r"^agent=best: choose from backward_value, temporal_difference$"):
        compose_settings_of(TabularSettings, "tabular", ["agent=best"])
    with pytest.raises(SettingError, match=r"^unknown setting 'architecture'; --help shows all$"):
        compose_settings_of(TabularSettings, "tabular", ["architecture=conv"])


def test_an_unknown_choice_is_refused_with_the_choices():
    with pytest.raises(SettingError) as caught:
        compose_settings(["game=chess"])
    assert all(name in str(caught.value) for name in GAMES)


def test_one_line_removes_line_breaks():
    assert one_line(ValueError("a\n  b\n\nTo append to your config\nc")) == "a b"


def test_settings_are_printed_for_the_shell_one_a_line():
    command = [
        sys.executable,
        "-m",
        "selfplay.cli.print_settings",
        "recipe=article",
        "levels=3",
        "--",
        "levels",
        "run_dir",
    ]
    output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path("/")).stdout
    assert output == f"3\n{PROJECT_FOLDER / 'outputs' / 'tictactoe'}\n"


def test_a_wrong_setting_is_reported_to_the_shell_in_one_line():
    command = [sys.executable, "-m", "selfplay.cli.print_settings", "gamma=2", "--", "levels"]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error: gamma=2.0: must be between 0 and 1\n"
