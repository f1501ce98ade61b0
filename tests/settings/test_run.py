"""The settings of a run: every file of conf/ composes, and values out of range are refused by name."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice, zip_longest
from math import nan
from pathlib import Path

import hydra
import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from selfplay.architectures import build_network
from selfplay.cli.entry import program_named
from selfplay.cli.programs import MODULES
from selfplay.errors import SettingError
from selfplay.executors import ExecutorOptions
from selfplay.games import GAMES, make_game
from selfplay.learners import LEARNERS
from selfplay.runs.folders import CONFIG_FOLDER, PROJECT_FOLDER
from selfplay.settings.classical import ExperienceJsonSettings, TabularSettings
from selfplay.settings.common import PATH, CommonSettings, LockstepSettings, PlayerSettings, leaves
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.matches import MatchSettings, TournamentSettings
from selfplay.settings.overrides import overrides_of
from selfplay.settings.recorded import composed_for_run
from selfplay.settings.run import ComparisonSettings, Settings, compose_settings

OF_OTHERS = {
    "game_tree": (AnalysisSettings, "analysis"),
    "agent": (TabularSettings, "tabular"),
    "experience": (ExperienceJsonSettings, "experience_json"),
}
"""Groups that belong to a program beside the loop."""


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (CONFIG_FOLDER / group).glob("*.yaml"))


@pytest.mark.parametrize("part", ["the games", pytest.param("all networks", marks=pytest.mark.slow)])
def test_every_file_of_conf_composes_to_what_it_describes(part: str) -> None:
    """With the games the first networks, and the files of all other groups."""
    groups = {path.name for path in CONFIG_FOLDER.iterdir() if path.is_dir()}
    # Recipes are composed below; tests/search/test_evaluation.py reads the files of evaluation.
    of_runs = sorted(groups - OF_OTHERS.keys() - {"recipe", "evaluation", "learner"})
    assert set(options("game")) == {*GAMES, "go_7x7", "othello_6x6", "breakthrough_8x8"}
    assert set(options("learner")) == {*LEARNERS, "custom"}
    for learner, kind in LEARNERS.items():
        settings = compose_settings(
            ["recipe=alphazero" if learner == "values" else "recipe=default", f"learner={learner}"]
        )
        assert settings.learner == kind(name=learner)
    games, networks = (len(options(group)) for group in ("game", "architecture"))
    for chosen in islice(zip_longest(*map(options, of_runs)), games if part == "the games" else networks):
        choice = {group: option for group, option in zip(of_runs, chosen, strict=True) if option}
        settings = compose_settings([f"{group}={option}" for group, option in choice.items()])
        file = CONFIG_FOLDER / "architecture" / f"{choice['architecture']}.yaml"
        assert settings.architecture == OmegaConf.to_container(OmegaConf.load(file))
        assert settings.game.name == choice.get("game", "tictactoe")
        assert settings.run_dir == str(PROJECT_FOLDER / "outputs" / settings.game.name)
    for group, (kind, config) in OF_OTHERS.items():
        for option in options(group):
            assert isinstance(compose_settings_of(kind, config, [f"{group}={option}"]), kind)


@pytest.fixture(scope="module")
def recipes() -> dict[str, Settings]:
    """The settings of each recipe."""
    return {name: compose_settings([f"recipe={name}"]) for name in options("recipe")}


@pytest.mark.slow
def test_every_recipe_builds_its_game_and_network(recipes: dict[str, Settings]) -> None:
    for name, settings in recipes.items():
        assert settings.recipe == name
        game = make_game(settings.game.name)
        assert build_network(settings.architecture, game.observation_shape, game.num_distinct_actions).training


@pytest.mark.slow
def test_another_board_network_and_learner_can_be_chosen_with_every_recipe(recipes: dict[str, Settings]) -> None:
    chosen = ["game=go_5x5", "architecture=conv", "learner=expert"]
    expected = compose_settings(chosen)
    for name in recipes:
        settings = compose_settings([f"recipe={name}", *chosen])
        assert settings.game == expected.game, name
        assert settings.architecture == expected.architecture, name
        assert settings.learner == expected.learner, name


def test_the_recipes_have_the_settings_of_their_sources() -> None:
    default, article, sumto100 = (compose_settings([f"recipe={name}"]) for name in ("default", "article", "sumto100"))
    learner = default.learner
    assert (learner.targets, learner.gamma, learner.epsilons) == ("best_response", 0.9, [1.0, 1.0, 0.4])
    assert default.architecture == {"name": "mlp", "hidden_sizes": [128, 128, 64], "dropout": 0.0}
    assert (default.levels, default.matches) == (10, 60000)
    learner = article.learner
    assert (article.levels, article.matches, learner.gamma, learner.epsilons) == (17, 30000, 0.95, [0.5, 0.5, 0.1])
    assert article.architecture == {"name": "mlp", "hidden_sizes": [1024], "dropout": 0.5}
    assert (learner.batch_size, learner.epochs, learner.steps_per_epoch) == (64, 5, None)
    assert (learner.validation_fraction, learner.symmetries, learner.merge) == (0.2, False, False)
    assert (learner.learning_rate, learner.weight_decay, learner.schedule) == (1e-4, 1e-5, "constant")
    assert not learner.decoupled_weight_decay
    assert (article.comparison.matches, article.comparison.epsilons) == (1000, [0.5, 0.5, 0.1])
    assert sumto100.game.name == "sumto100"
    assert (sumto100.levels, sumto100.matches, sumto100.learner.gamma) == (25, 5000, 0.98)
    assert sumto100.architecture == {"name": "mlp", "hidden_sizes": [512], "dropout": 0.0}
    assert sumto100.learner.learning_rate == 1e-3


def test_the_command_line_overrides_the_recipe_in_any_order() -> None:
    settings = compose_settings(
        ["levels=3", "learner.epochs=1", "architecture=mlp", "learner.epsilons=[0.3]", "recipe=article"]
    )
    assert (settings.levels, settings.learner.epochs, settings.learner.epsilons) == (3, 1, [0.3])
    assert (settings.architecture["hidden_sizes"], settings.learner.gamma) == ([256], 0.95)


def test_options_of_networks_that_are_not_in_conf_can_be_set() -> None:
    options = {"name": "ntuple", "patterns": None, "symmetries": "none", "phases": 1, "walks": 8}
    assert compose_settings(["architecture=ntuple", "architecture.walks=8"]).architecture == options
    assert compose_settings(architecture={"name": "ntuple", "walks": 8}).architecture == options


def test_texts_from_python_are_read_as_on_the_command_line() -> None:
    player = "search:negascout?depth=3"
    settings = compose_settings(
        [f"learner.self_play={player}", f"comparison.references=[{player}]", "run_dir=a=b,2026_11"]
    )
    assert (settings.learner.self_play, settings.comparison.references) == (player, [player])
    assert Path(settings.run_dir).name == "a=b,2026_11"


def test_a_rule_of_tree_search_needs_its_own_constants() -> None:
    with pytest.raises(SettingError, match=r"^learner.constants=c_scale: learner.rule=uct has c$"):
        compose_settings(["recipe=alphazero_gomoku", "learner.rule=uct"])
    given = compose_settings(["recipe=alphazero", "learner.rule=uct", "learner.constants.c=2"])
    assert given.learner.constants == {"c": 2}


def test_the_settings_of_a_run_are_those_of_its_learner() -> None:
    """Every parameter of every learner can be set with this learner, and is refused with one that does not have it."""
    parameters = {name: kind.parameters() for name, kind in LEARNERS.items()}
    usual = {name: compose_settings([f"learner={name}"]).learner for name in LEARNERS}
    for name in LEARNERS:
        assert {leaf.name for leaf in leaves(compose_settings([f"learner={name}"])) if "learner." in leaf.name} == {
            "learner.name",
            *(f"learner.{one}" for one in parameters[name]),
        }
        for other, of_other in parameters.items():
            for parameter in set(of_other) - set(parameters[name]):
                line = f"^unknown setting 'learner.{parameter}'; .*learner={other}.* ha(s|ve) learner.{parameter}$"
                value = getattr(usual[other], parameter)
                given = overrides_of({f"learner.{parameter}": value}) if value != {} else ["learner.constants={}"]
                with pytest.raises(SettingError, match=line):
                    compose_settings([f"learner={name}", *given])
    taught, usual_run = (compose_settings([f"recipe={name}"]) for name in ("connect_four_taught", "connect_four"))
    assert taught.at_level(15).learner == usual_run.learner


def test_what_changes_from_a_level_on_is_checked_and_recorded_by_level() -> None:
    phases = "{3:{learner.epsilons:[0.2],matches:500},5:{learner:td,learner.step_size:0.5},7:{learner.step_size:0.1}}"
    settings = compose_settings([f"from_level={phases}"])
    at = {level: settings.at_level(level) for level in range(1, 9)}
    assert at[2].learner == settings.learner
    assert (at[3].learner.epsilons, at[3].matches, at[4].learner) == ([0.2], 500, at[3].learner)
    assert (at[5].learner.name, at[5].learner.step_size, at[5].matches, at[8].learner.step_size) == (
        "td",
        0.5,
        500,
        0.1,
    )
    assert [settings.first_level(level) for level in (1, 4, 5, 8)] == [1, 1, 5, 5]
    assert compose_settings(from_level=settings.from_level) == settings


def test_the_changes_of_a_learner_may_be_a_section_of_their_own() -> None:
    flat = compose_settings(["from_level={3:{learner.epochs:5},5:{learner:td,learner.step_size:0.5}}"])
    nested = compose_settings(["from_level={3:{learner:{epochs:5}},5:{learner:{name:td,step_size:0.5}}}"])
    for level in range(1, 7):
        assert nested.at_level(level) == flat.at_level(level)
    with pytest.raises(SettingError, match=r"^from_level\.3\.learner\.epoch: can be learner, matches, or"):
        compose_settings(["from_level={3:{learner:{epoch:5}}}"])


OUT_OF_RANGE = {
    (LockstepSettings, ""): [("seed", 2**63), ("batch_size", 0), ("threads", 0), ("device", "tpu")],
    (Settings, ""): [
        *(("level", -1), ("levels", 0), ("matches", 1), ("logger", "paper"), ("from_level", {0: {}})),
    ],
    (PlayerSettings, "player."): [("depth", 0), ("temperature", -0.1)],
    (ExecutorOptions, "executor."): [("name", "cluster"), ("workers", 0)],
    (LEARNERS["values"], "learner."): [
        *(("gamma", 1.1), ("gamma", -0.1), ("gamma", nan), ("epsilons", []), ("epsilons", [-0.1]), ("epsilons", [nan])),
        *(("viewpoints", "mine"), ("outcome", "points"), ("opponents", "everyone"), ("value_share", 1.1)),
        *(("exact_from", 0), ("gate", 1.5), ("gate", nan), ("replay", -1), ("targets", "lucky")),
        *(("learning_rate", 0.0), ("learning_rate", nan), ("weight_decay", -1.0), ("weight_decay", nan)),
        *(("schedule", "sometimes"), ("optimizer", "newton"), ("level_decay", 0.0), ("level_decay", 1.5)),
        *(("precision", "float16"), ("start", "later")),
        *(("epochs", 0), ("steps_per_epoch", 0), ("batch_size", 0)),
        *(("validation_fraction", 0.0), ("validation_fraction", 1.0), ("validation_fraction", nan)),
    ],
    (ComparisonSettings, "comparison."): [
        *(("matches", 1), ("opening_plies", -1), ("every", 0), ("earlier_matches", 1), ("endgames", -1)),
        *(("epsilons", []), ("epsilons", [0.5, 1.5])),
    ],
    (TabularSettings, ""): [("episodes", 0), ("epsilon", 1.5), ("step_size", 0.0), ("step_size", nan)],
    (MatchSettings, ""): [("matches", 0), ("report_every", 0)],
    (TournamentSettings, ""): [
        *(("matches", 1), ("epsilons", [2.0]), ("players", ["random"]), ("players", ["random", "random"]))
    ],
}


@pytest.mark.parametrize(("kind", "prefix"), OUT_OF_RANGE, ids=lambda value: getattr(value, "__name__", value))
def test_a_value_out_of_range_is_refused_with_the_settings_name(kind: type, prefix: str) -> None:
    is_section = not issubclass(kind, CommonSettings)
    for name, value in OUT_OF_RANGE[kind, prefix]:
        with pytest.raises(SettingError, match=rf"^{prefix}{name}=.*: must be [^\n]*$"):
            compose_settings([f"{prefix}{name}={value}"]) if is_section else kind("x", **{name: value})


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("levels=many", "levels=many: must be a whole number"),
        ("learner.gamma=2", "learner.gamma=2.0: must be from 0 to 1"),
        ("learner.epsilons=0.5", "learner.epsilons=0.5: must be a list, such as [0.5]"),
        ("seed=0,1", "seed=0,1: has several values; -m runs once for each value"),
        (
            "comparison.references=a,b",
            "comparison.references=a,b: has several values; write a list as comparison.references=[a,b]; -m runs once "
            "for each value",
        ),
        ("training.nothing=1", "unknown setting 'training.nothing'; --help-all shows all"),
        ("learner.constants.c=1", "unknown setting 'learner.constants'; learner=policy has learner.constants"),
        ("mcts.simulations=9", "unknown setting 'mcts.simulations'; learner=policy has learner.simulations"),
        ("td.step_size=1", "unknown setting 'td.step_size'; learner=td has learner.step_size"),
        ("learner.gama=1", "unknown setting 'learner.gama'; did you mean learner.gamma? --help-all shows all"),
        (
            "architecture.size=8",
            "unknown setting 'architecture.size'; architecture=mlp has architecture.hidden_sizes, architecture.dropout",
        ),
        ("executor=best", "executor=best: choose from process, ray, serial"),
        ("executor=4", "executor=4: must be one name; --help-all shows the options"),
        (
            "learner.epsilons=[1",
            "learner.epsilons=[1: cannot be read; write a list as [1,2], and a text with special characters in two "
            "pairs of quotes, because the shell takes one away: 'learner.epsilons=\"TEXT\"'",
        ),
        ("player=null", "player=null: names a section of settings; set one of player.depth, player.temperature"),
        ("learner.gate=???", "learner.gate=???: must be a value"),
        ("learner.epsilons=[0.5,???]", "learner.epsilons=???: must be a value"),
        ("seed=${levels_}", "seed: Interpolation key 'levels_' not found"),
        (
            "learner.epsilons=[choice(1,2)]",
            "learner.epsilons=[choice(1,2)]: must have the form of the value that --help-all shows",
        ),
        (
            "architecture.hidden_sizes.a=3",
            "architecture.hidden_sizes.a=3: must have the form of the value that --help-all shows",
        ),
        ("run_dir=", "run_dir='': must be the path of a folder, in printable characters"),
    ],
)
def test_an_error_begins_with_the_setting_and_names_no_class_of_the_program(override: str, line: str) -> None:
    with pytest.raises(SettingError) as caught:
        composed_for_run([override])
    assert str(caught.value) == line


PROGRAMS = {
    kind.__name__: (kind, program.config)
    for name in MODULES
    if (program := program_named(name)) and (kind := getattr(program, "kind", None))
}


@pytest.mark.parametrize(("kind", "config"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_tilde_at_the_start_of_each_path_is_the_home_folder(
    kind: type, config: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    found = {leaf.name: leaf.field for leaf in leaves(compose_settings_of(kind, config))}
    paths = [name for name, field in found.items() if PATH.keys() <= field.metadata.keys()]
    ends = "dir", "file", "folder", "path", "json", "runs", "sgf", "record", "commented", "first_agent"
    assert paths == [name for name, field in found.items() if "str" in str(field.type) and name.endswith(ends)]
    for given, meant in {"~/a  b": "home/a  b", "./~/x": "~/x", "./~no-user/x": "~no-user/x"}.items():
        settings = compose_settings_of(kind, config, overrides_of(dict.fromkeys(paths, given)))
        assert [leaf.value for leaf in leaves(settings) if leaf.name in paths] == [str(tmp_path / meant)] * len(paths)
    settings = compose_settings_of(kind, config, overrides_of(dict.fromkeys(paths, "a//x~")))
    assert {leaf.value for leaf in leaves(settings) if leaf.name in paths} == {"a/x~"}
    with pytest.raises(SettingError, match=r"^~no-user/x: there is no home folder ~no-user; "):
        compose_settings_of(kind, config, overrides_of(dict.fromkeys(paths, "~no-user/x")))


def test_an_option_of_another_program_is_refused_without_the_name_of_its_file() -> None:
    with pytest.raises(SettingError, match=r"^agent=best: choose from backward_value, temporal_difference$"):
        compose_settings_of(TabularSettings, "tabular", ["agent=best"])
    with pytest.raises(SettingError, match=r"^unknown setting 'architecture'; --help-all shows all$"):
        compose_settings_of(TabularSettings, "tabular", ["architecture=conv"])


@pytest.fixture
def own_recipe(tmp_path: Path) -> list[str]:
    """A recipe in a folder of the user: it is composed each time."""
    file = tmp_path / "recipe" / "mine.yaml"
    file.parent.mkdir()
    file.write_text("# @package _global_\nlevels: 7\n")
    return [f"hydra.searchpath=['{tmp_path}']", "recipe=mine"]


def test_a_program_that_uses_hydra_itself_is_not_disturbed(
    tmp_path: Path, own_recipe: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConfigStore.instance(), "repo", dict(ConfigStore.instance().repo))
    ConfigStore.instance().store("Settings", {"width": 3})
    with hydra.initialize_config_dir(str(tmp_path), job_name="host", version_base="1.2"):
        host = GlobalHydra.instance()
        started = host.hydra
        assert compose_settings(own_recipe).levels == 7
        with pytest.raises(SettingError):
            compose_settings([*own_recipe, "+recipe=default"])
        assert GlobalHydra.instance() is host
        assert host.hydra is started
        own = hydra.compose("Settings", return_hydra_config=True)
        assert (own.width, own.hydra.job.name, own.hydra.runtime.version_base) == (3, "host", "1.2")
    assert not GlobalHydra.instance().is_initialized()


def test_threads_may_compose_at_once(own_recipe: list[str]) -> None:
    with ThreadPoolExecutor(4) as threads:
        composed = list(threads.map(lambda seed: compose_settings([*own_recipe, f"seed={seed}"]), range(4)))
    assert [(settings.seed, settings.recipe) for settings in composed] == [(seed, "mine") for seed in range(4)]
    assert not GlobalHydra.instance().is_initialized()


@pytest.mark.parametrize("given", ["game.exact=true", "game.parameters.exact=true", "game.parameters={exact: true}"])
def test_parameters_of_a_game_may_be_named_with_their_section(given: str) -> None:
    assert compose_settings(["game=gomoku", given]).game.name == "gomoku_exact=1"


def test_parameters_of_a_game_are_given_from_python() -> None:
    given = {"name": "gomoku", "parameters": {"exact": True, "length": 4}}
    assert compose_settings(game=given).game.name == "gomoku_length=4_exact=1"
