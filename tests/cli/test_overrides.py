"""Command-line flags become Hydra overrides."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from selfplay.cli.command import check_signs, overrides_first
from selfplay.errors import SettingError
from selfplay.settings.matches import MatchSettings
from selfplay.settings.run import compose_settings


@pytest.mark.parametrize(
    ("arguments", "overrides"),
    [
        ("--level 3", "level=3"),
        ("--learner.epochs 3", "learner.epochs=3"),
        ("--config-dir my_conf seed=1", "hydra.searchpath=['my_conf'] seed=1"),
        ("--run-dir somewhere", "run_dir='somewhere'"),
        ("--seed -1", "seed=-1"),
        (
            "learner.gamma=0.5 --level 3 learner.epsilons=[0.5,0.1]",
            "learner.gamma=0.5 level=3 learner.epsilons=[0.5,0.1]",
        ),
        ("+hydra.verbose=true ~seed ++seed=1", "+hydra.verbose=true ~seed ++seed=1"),
        ("--cfg job --level 3", "level=3 --cfg job"),
        ("-sc query=bash", "-sc query=bash"),
        ("seed=0,1 -m --level 3 learner.gamma=0.5", "seed=0,1 level=3 learner.gamma=0.5 -m"),
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
    "text",
    [
        *(
            "2026_11_25",
            "1.50",
            "1e5",
            "0x1",
            "true",
            "Nan",
            " a  b ",
            "a,b",
            "{a: b}",
            "a#b",
            "$HOME",
            "\\",
            "a\\",
            "a\\'b",
        ),
        *("bob's runs", "'", '"', "'a'b'", """it's "x\"""", "str(5)", "runs(1,2)"),
    ],
)
def test_a_text_is_taken_as_it_was_typed(text):
    for arguments in ([f"run_dir={text}"], [f"--run-dir={text}"], ["--run-dir", text]):
        assert compose_settings(overrides_first(arguments)[0]).run_dir == text
    assert compose_settings(run_dir=text).run_dir == text


def test_texts_in_quotes_lose_them_and_null_is_no_value():
    given, _ = overrides_first(["""run_dir='bob\\'s "runs"'""", 'agent_file="null"', "dataset_file=null"])
    settings = compose_settings(given)
    assert (settings.run_dir, settings.agent_file, settings.dataset_file) == ("""bob's "runs\"""", "null", None)


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ("[2026_11,1.50, true]", ["2026_11", "1.50", "true"]),
        ("[random,'level:3?depth=2',level:2?depth=1]", ["random", "level:3?depth=2", "level:2?depth=1"]),
        ("[bob's player , gtp:engine -l 3?time_limit=5]", ["bob's player", "gtp:engine -l 3?time_limit=5"]),
        ("""["a,b",'c[1]',d]""", ["a,b", "c[1]", "d"]),
        ("[]", []),
    ],
)
def test_each_text_of_a_list_is_taken_as_it_was_typed(given, texts):
    ((_, override),) = (one.split("=", 1) for one in overrides_first([f"modules={given}"])[0])
    assert OverridesParser.create().parse_override(f"modules={override}").value() == texts


def test_a_folder_of_settings_may_have_an_apostrophe(tmp_path):
    recipe = tmp_path / "bob's 2" / "recipe" / "2026_11.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text("# @package _global_\nrecipe: 2026_11\nlevels: 7\n")
    given, _ = overrides_first(["--config-dir", str(tmp_path / "bob's 2"), "recipe=2026_11"])
    assert compose_settings(given).levels == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--level", "--level needs a value"),
        ("--cfg job oops", "'oops' is neither a flag nor a setting; write name=value"),
        ("--help=yes", "--help takes no value"),
        ("levels=3 seed=1 --levels 4", "levels is set twice, to 3 and 4; set it once"),
        ("-m seed=0,1 seed=2", "seed is set twice, to 0,1 and 2; set it once"),
        ("--level 3 4", "'4' is neither a flag nor a setting; write name=value"),
    ],
)
def test_a_wrong_flag_is_refused_by_name(arguments, message):
    with pytest.raises(SettingError) as caught:
        overrides_first(arguments.split())
    assert str(caught.value).startswith(message)


def test_a_group_may_be_chosen_again_as_scripts_do():
    assert (
        compose_settings(overrides_first(["game=othello", "recipe=othello", "recipe=article"])[0]).recipe == "article"
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("\u2013level=3", "\u2013level=3: \u2013 is the typographic EN DASH; write --level=3"),
        ("—level", "—level: — is the typographic EM DASH; write --level"),
        ("“first=random”", "“first=random”: “ is the typographic LEFT DOUBLE QUOTATION MARK; write first=random"),
        (
            "first=«random»",
            "first=«random»: « is the typographic LEFT-POINTING DOUBLE ANGLE QUOTATION MARK; write first",
        ),
    ],
)
def test_a_typographic_sign_is_named_with_what_to_write(argument, message):
    with pytest.raises(SettingError) as caught:
        check_signs(["seed=1", argument])
    assert str(caught.value).startswith(message)


def test_signs_within_a_text_are_its_own():
    check_signs(["", "run_dir=runs/l\u2019été \u2013 1", "player=gtp:engine --name «a» -x", "moves=--"])
