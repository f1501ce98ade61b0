"""Command-line flags become Hydra overrides."""

import pytest

from selfplay.cli.command import overrides_first
from selfplay.errors import SettingError
from selfplay.settings.matches import MatchSettings
from selfplay.settings.run import compose_settings


@pytest.mark.parametrize(
    ("arguments", "overrides"),
    [
        ("--level 3", "level=3"),
        ("--training.epochs 3", "training.epochs=3"),
        ("--config-dir my_conf seed=1", "hydra.searchpath=['my_conf'] seed=1"),
        ("--run-dir somewhere", "run_dir=somewhere"),
        ("--seed -1", "seed=-1"),
        ("gamma=0.5 --level 3 epsilons=[0.5,0.1]", "gamma=0.5 level=3 epsilons=[0.5,0.1]"),
        ("+hydra.verbose=true ~seed ++seed=1", "+hydra.verbose=true ~seed ++seed=1"),
        ("--cfg job --level 3", "level=3 --cfg job"),
        ("seed=0,1 -m --level 3 gamma=0.5", "seed=0,1 level=3 gamma=0.5 -m"),
        ("run_dir=a,b=c", "run_dir='a,b=c'"),
        ("run_dir=outputs/recipe=article,seed=0", "run_dir='outputs/recipe=article,seed=0'"),
        ("run_dir=outputs/seed=0", "run_dir='outputs/seed=0'"),
        ("run_dir=~/été", "run_dir='~/été'"),
    ],
)
def test_flags_become_overrides_before_hydras_own_flags(arguments, overrides):
    given, flags = overrides_first(arguments.split())
    assert [*given, *flags] == overrides.split()


def test_a_players_options_are_quoted_and_a_folder_only_once():
    def changed(argument):
        (override,), _ = overrides_first([argument], MatchSettings)
        return override

    assert changed("second=level:3?depth=2") == "second='level:3?depth=2'"
    assert changed("players=[random,'level:3?depth=2',level:2?depth=1]") == (
        "players=[random,'level:3?depth=2','level:2?depth=1']"
    )
    quoted = "first='gtp:engine --level easy?time_limit=5'"
    assert changed(quoted) == quoted
    assert changed("run_dir=runs/a?x=1") == "run_dir='runs/a?x=1'"


def test_a_path_may_contain_special_characters():
    folders = ["seed=0", "recipe=a,seed=0", "my folder", "été", "a&b;c", "a(b)", "a[1]", "x~"]
    names = ["run_dir", "dataset_file", "output_dir"]
    for start in range(0, len(folders), len(names)):
        given = {name: f"/tmp/{folder}" for name, folder in zip(names, folders[start:], strict=False)}
        overrides, _ = overrides_first([f"{name}={path}" for name, path in given.items()])
        settings = compose_settings(overrides)
        assert {name: getattr(settings, name) for name in given} == given


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--level", "--level needs a value"),
        ("-z", "'-z' is neither a flag nor a setting"),
        ("--level 3 4", "'4' is neither a flag nor a setting; write name=value"),
    ],
)
def test_a_wrong_flag_is_refused_by_name(arguments, message):
    with pytest.raises(SettingError) as caught:
        overrides_first(arguments.split())
    assert str(caught.value).startswith(message)
