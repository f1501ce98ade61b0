"""Command-line flags become Hydra overrides."""

import pytest
from hydra._internal.utils import get_args_parser

from selfplay.cli.arguments import FLAGS, HELP_FLAGS, HYDRA_FLAGS, HYDRA_FLAGS_WITH_VALUE, PATHS, overrides_first
from selfplay.cli.help_text import flags_of
from selfplay.errors import SettingError
from selfplay.settings.analysis import AnalysisSettings
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.settings.matches import MatchSettings, TournamentSettings
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import Settings, compose_settings
from selfplay.settings.tabular import CompeteSettings, TabularSettings
from selfplay.settings.web import WebSettings


@pytest.mark.parametrize(
    ("arguments", "overrides"),
    [
        ("", ""),
        ("--level 3", "level=3"),
        ("--level=3", "level=3"),
        ("--run-dir somewhere", "run_dir=somewhere"),
        ("--run_dir=somewhere", "run_dir=somewhere"),
        ("--seed -1", "seed=-1"),
        ("--seed=-1", "seed=-1"),
        ("gamma=0.5 --level 3 epsilons=[0.5,0.1]", "gamma=0.5 level=3 epsilons=[0.5,0.1]"),
        ("--level 3 level=4", "level=3 level=4"),
        ("+hydra.verbose=true ~seed ++seed=1", "+hydra.verbose=true ~seed ++seed=1"),
        ("--cfg job --level 3", "level=3 --cfg job"),
        ("-c job seed=1 --package game", "seed=1 -c job --package game"),
        ("--cfg=job seed=1", "seed=1 --cfg=job"),
        ("seed=0,1 -m --level 3 gamma=0.5", "seed=0,1 level=3 gamma=0.5 -m"),
        ("--info --level 3", "level=3 --info"),
        ("run_dir=outputs/my-run_1.2", "run_dir=outputs/my-run_1.2"),
        ("run_dir=a,b -m", "run_dir=a,b -m"),
        ("run_dir=a,b=c", "run_dir='a,b=c'"),
        ("run_dir=outputs/recipe=article,seed=0", "run_dir='outputs/recipe=article,seed=0'"),
        ("run_dir=choice(a,b)", "run_dir=choice(a,b)"),
        ("run_dir=${project_folder:}/x", "run_dir=${project_folder:}/x"),
        ("run_dir='a=b'", "run_dir='a=b'"),
        ("run_dir=outputs/seed=0", "run_dir='outputs/seed=0'"),
        ("--run_dir outputs/seed=0", "run_dir='outputs/seed=0'"),
        ("run_dir=~/été", "run_dir='~/été'"),
    ],
)
def test_flags_become_overrides_before_hydras_own_flags(arguments, overrides):
    assert overrides_first(arguments.split()) == overrides.split()


def test_every_flag_is_a_setting_or_a_group():
    kinds = (Settings, TabularSettings, MatchSettings, TournamentSettings, PlaySettings, WebSettings)
    assert set(FLAGS) <= {"recipe"}.union(*(kind.__dataclass_fields__ for kind in kinds))


def test_a_players_options_are_quoted_and_a_folder_only_once():
    assert overrides_first(["second=level:3?depth=2"]) == ["second='level:3?depth=2'"]
    assert overrides_first(["players=[random,'level:3?depth=2',level:2?depth=1]"]) == [
        "players=[random,'level:3?depth=2','level:2?depth=1']"
    ]
    quoted = "first='gtp:engine --level easy?time_limit=5'"
    assert overrides_first([quoted]) == [quoted]
    assert overrides_first(["run_dir=runs/a?x=1"]) == ["run_dir='runs/a?x=1'"]


def test_the_listed_hydra_flags_are_those_of_its_parser():
    actions = [action for action in get_args_parser()._actions if action.option_strings]
    valued = {name for action in actions for name in action.option_strings if action.nargs is None}
    assert valued == set(HYDRA_FLAGS_WITH_VALUE)
    assert {name for action in actions for name in action.option_strings} - valued == {*HELP_FLAGS, *HYDRA_FLAGS}


def test_a_path_may_contain_special_characters():
    folders = ["seed=0", "recipe=a,seed=0", "my folder", "été", "a&b;c", "a(b)", "a[1]", "x~"]
    names = ["run_dir", "dataset_file", "output_dir"]
    for start in range(0, len(folders), len(names)):
        given = {name: f"/tmp/{folder}" for name, folder in zip(names, folders[start:], strict=False)}
        settings = compose_settings(overrides_first([f"{name}={path}" for name, path in given.items()]))
        assert {name: getattr(settings, name) for name in given} == given


def test_every_path_is_a_setting_and_no_other_setting_looks_like_one():
    kinds = (Settings, ExperienceGraphSettings, AnalysisSettings, CompeteSettings, WebSettings)
    names = {path.partition(".")[0] for path in PATHS}
    assert all(any(name in kind.__dataclass_fields__ for kind in kinds) for name in names)
    fields = {name for kind in kinds for name in kind.__dataclass_fields__}
    assert {name for name in fields if name.endswith(("_file", "_dir"))} <= names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--level", "--level needs a value"),
        ("--level seed=1", "--level needs a value"),
        ("--level --seed 1", "--level needs a value"),
        ("--level -m", "--level needs a value"),
        ("seed=1 --cfg", "--cfg needs a value"),
        ("--foo", "unknown flag --foo; choose from --game, "),
        ("--foo=1", "unknown flag --foo=1"),
        ("-z", "unknown flag -z"),
        ("--gamma 0.5", "unknown flag --gamma"),
        ("--level 3 4", "'4' is neither a flag nor a setting; write name=value"),
    ],
)
def test_a_wrong_flag_is_refused_by_name(arguments, message):
    with pytest.raises(SettingError) as caught:
        overrides_first(arguments.split())
    assert str(caught.value).startswith(message)


def test_an_unknown_flag_is_answered_with_the_flags_of_the_program():
    known = "--game, --run_dir, --seed, --force, --agent, --episodes, --help"
    with pytest.raises(SettingError, match=f"^unknown flag --matches_played; choose from {known}$"):
        overrides_first(["--matches_played"], lambda: flags_of(TabularSettings, "tabular"))
