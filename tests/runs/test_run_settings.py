"""The settings that a run records in its manifest, and the commands that take them over."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from selfplay import compose_settings, generate_level, learn_levels, settings_of_run, train_level
from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import commands_in, modules_in
from selfplay.settings.recorded import composed_for_run, record_run_settings
from selfplay.settings.run import Run
from tests.support.rejections import assert_file_rejected
from tests.support.runs import COMPARE, GENERATE, LEARN, TINY, TINY_TRAINING, TRAIN, files_of, run_forked, tiny_settings

ARTICLE = ["recipe=article", "seed=5", "architecture.hidden_sizes=[16]"]
"""A recipe, and settings that are not in it."""


@pytest.fixture(scope="module")
def article_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one level with the recipe "article" and own settings."""
    run_dir = tmp_path_factory.mktemp("article") / "run"
    learn_levels(tiny_settings(run_dir, *ARTICLE, "levels=1"))
    return run_dir


def test_all_settings_of_a_run_are_found_by_its_folder(article_run: Path) -> None:
    settings = tiny_settings(article_run, *ARTICLE, "levels=1")
    assert settings.recipe == "article"
    assert settings_of_run(article_run) == settings


def test_given_settings_come_first(article_run: Path) -> None:
    overrides = ["levels=7", "learner.epsilons=[0.2]", "architecture.dropout=0.1", "learner.schedule=one_cycle"]
    assert settings_of_run(article_run, overrides) == tiny_settings(article_run, *ARTICLE, *overrides)
    # A group replaces all settings of the recorded one, and a recipe all settings.
    settings = settings_of_run(article_run, ["architecture=conv"])
    assert settings.architecture == tiny_settings(article_run, "architecture=conv").architecture
    assert settings.matches == 300
    settings = settings_of_run(article_run, ["learner=td"])
    assert settings.learner == compose_settings(["learner=td"]).learner
    settings = settings_of_run(article_run, ["recipe=article"])
    assert (settings.seed, settings.matches, settings.architecture["hidden_sizes"]) == (0, 30000, [1024])


def test_where_and_how_fast_a_run_is_made_is_not_recorded(tmp_path: Path) -> None:
    executor = "executor.name='tests.executors.test_outside_executor:ReverseExecutor'"
    generate_level(tiny_settings(tmp_path, "matches=50", "batch_size=7", executor, "device=cpu"), 0)
    settings = settings_of_run(tmp_path)
    assert (settings.batch_size, settings.executor.name, settings.device) == (None, "serial", "auto")


BEGINS_ANEW = "; fresh=true or another run_dir begins anew"


def test_a_stage_without_recipe_finds_that_of_the_run_and_says_what_is_unusual(
    article_run: Path, tmp_path: Path
) -> None:
    result = run_forked(GENERATE, "--level", 1, f"run_dir={article_run}")
    assert (result.returncode, result.stderr) == (0, "")
    first, second = result.stdout.splitlines()
    assert first.startswith(f"{article_run} was begun with recipe=article, ")
    assert "matches=300 (usual 30000)" in first
    assert first.endswith(BEGINS_ANEW)
    assert second.startswith("level 1: played 300 matches")
    # The same bytes as with all settings given.
    generate_level(tiny_settings(article_run, *ARTICLE, "levels=1", f"output_dir={tmp_path}"), 1)
    assert (tmp_path / "dataset.csv").read_bytes() == RunFolder(article_run).dataset(1).read_bytes()


def test_a_recipe_without_changes_is_named_alone(tmp_path: Path) -> None:
    settings = compose_settings(["recipe=article", f"run_dir={tmp_path}"])
    record_run_settings(Run.of(settings).folder, settings)
    result = run_forked(COMPARE, f"run_dir={tmp_path}")
    assert result.stdout == f"{tmp_path} was begun with recipe=article{BEGINS_ANEW}\n"


def test_the_learner_of_a_run_is_named_and_its_settings_are_shown(tmp_path: Path) -> None:
    given = ["learner=td", "learner.step_size=0.5", "architecture=ntuple", f"run_dir={tmp_path}"]
    settings = compose_settings(given)
    record_run_settings(Run.of(settings).folder, settings)
    named = "learner.name=td (usual values), "
    said = run_forked(COMPARE, f"run_dir={tmp_path}").stdout
    assert named in said
    assert "batch_size" not in said
    # Only what the run reads is printed, as a section or whole.
    for section in ([], ["--package", "learner"]):
        printed = yaml.safe_load(run_forked(COMPARE, f"run_dir={tmp_path}", "--cfg", "job", *section).stdout)
        learner = printed if section else printed["learner"]
        assert learner == asdict(compose_settings(given).learner)


def test_a_stage_with_the_same_settings_says_nothing_and_others_are_refused(run_copy: Path) -> None:
    result = run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 3)
    assert (result.returncode, result.stdout) == (0, "level 3: already trained, skipped\n")
    result = run_forked(TRAIN, f"run_dir={run_copy}", "--level", 3, "learner.epochs=9")
    assert result.stdout.startswith(f"{run_copy} was begun with levels=3 (usual 10), matches=300 (usual 60000), ")
    assert result.stderr.startswith("error: ")
    assert "learner.epochs was 3, is 9" in result.stderr
    with pytest.raises(StageError, match=r"learner\.epochs was 3, is 20"):
        train_level(settings_of_run(run_copy, ["recipe=default"]), 3)


@pytest.mark.slow
def test_a_stage_says_which_of_its_settings_later_commands_use(tmp_path: Path) -> None:
    arguments = [f"run_dir={tmp_path / 'run'}", "matches=300", "learner.epochs=1", "comparison.matches=50"]
    lines = run_forked(GENERATE, "--level", 0, *arguments).stdout.splitlines()
    named = "matches=300 (usual 60000), comparison.matches=50 (usual 1000), learner.epochs=1 (usual 20)"
    assert lines[1:] == [f"later commands for {tmp_path / 'run'} also use {named}"]
    # The whole run says it once, at the start, and in its report.
    for _ in range(2):
        lines = run_forked(LEARN, f"run_dir={tmp_path / 'run'}", "levels=1").stdout.splitlines()
        assert lines[0] == f"{tmp_path / 'run'} was begun with {named}{BEGINS_ANEW}"
        assert [line for line in lines if BEGINS_ANEW in line] == lines[:1]
        assert f"Made with {named}. Level 1 can lose" in " ".join(lines)


@pytest.mark.slow
def test_a_run_begun_anew_is_one_that_was_never_begun_otherwise(run_copy: Path, tmp_path: Path) -> None:
    own = run_copy / "notes.txt"
    own.touch()
    new = ["levels=1", "matches=200", *TINY_TRAINING, "comparison.matches=50"]
    result = run_forked(LEARN, *new, f"run_dir={run_copy}", "fresh=true")
    assert result.stdout.startswith(f"{run_copy}: deleted the levels made with matches=300 (now 200)\n")
    assert own.exists()
    own.unlink()
    learned = run_forked(LEARN, *new, f"run_dir={tmp_path / 'new'}")
    assert learned.returncode == 0
    assert files_of(run_copy) == files_of(tmp_path / "new")
    # The same command again resumes; it deletes nothing.
    again = run_forked(LEARN, *new, f"run_dir={run_copy}", "fresh=true").stdout.splitlines()
    assert again[:2] == ["level 0: matches already generated, skipped", "level 1: already trained, skipped"]


def test_a_refused_setting_or_a_stage_with_its_own_folder_deletes_nothing(run_copy: Path, tmp_path: Path) -> None:
    before = files_of(run_copy)
    with pytest.raises(SettingError, match="opening_plies"):
        learn_levels(tiny_settings(run_copy, "fresh=true", "learner.opening_plies=99"))
    own = f"output_dir={tmp_path / 'own'}"
    generate_level(tiny_settings(run_copy, "fresh=true", "matches=50", own), 0)
    assert files_of(run_copy) == before


def test_the_last_command_that_made_files_counts(run_copy: Path) -> None:
    generate_level(tiny_settings(run_copy, "levels=4", "learner.gamma=0.5", "force=true"), 2)
    settings = settings_of_run(run_copy)
    assert (settings.levels, settings.learner.gamma) == (4, 0.5)
    before = (run_copy / "manifest.json").read_bytes()
    with pytest.raises(StageError, match=r"gamma was 0\.5, is 0\.9"):
        generate_level(tiny_settings(run_copy, "learner.gamma=0.9"), 2)
    assert not train_level(tiny_settings(run_copy, "learner.gamma=0.9"), 1)
    assert (run_copy / "manifest.json").read_bytes() == before


def test_a_folder_that_is_not_that_of_a_run_has_no_settings(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "new"):
        with pytest.raises(StageError, match=f"{path} is not the folder of a run; compose_settings makes settings"):
            settings_of_run(path)


def test_a_list_in_a_list_is_refused_where_single_values_are_expected(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"^learner.epsilons\[0\]=.*: "):
        composed_for_run([f"run_dir={tmp_path}", "learner.epsilons=[[0.1]]"])


def test_a_folder_of_settings_that_is_not_there_is_named() -> None:
    with pytest.raises(SettingError, match=r"^--config-dir=nowhere: must be a folder$"):
        composed_for_run(["hydra.searchpath=['nowhere']"])


def test_a_recorded_setting_that_does_not_exist_is_left_out_and_a_wrong_value_refused(run_copy: Path) -> None:
    path = run_copy / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["run"]["settings"] |= {"handicap": 2, "learner.handicap": 3}
    path.write_text(json.dumps(manifest))
    assert settings_of_run(run_copy).matches == 300
    manifest["run"]["settings"]["learner.gamma"] = 7
    path.write_text(json.dumps(manifest))
    with pytest.raises(SettingError, match=r"learner.gamma=7\.0: must be from 0 to 1"):
        settings_of_run(run_copy)
    path.write_text("{")
    with assert_file_rejected(path, "manifest"):
        settings_of_run(run_copy)


def record(run_dir: Path, **settings: object) -> Path:
    """A manifest whose run has recorded these settings, `__` for a dot."""
    path = run_dir / "manifest.json"
    values = {name.replace("__", "."): value for name, value in settings.items()}
    path.write_text(json.dumps({"format": 2, "run": {"settings": values, "files": {}}}))
    return path


CODE = {
    "game": {"game__name": "harmful:Game"},
    "architecture": {"architecture": {"name": "harmful:Network"}},
    "outcome": {"learner__outcome": "harmful:outcome"},
    "targets": {"learner__targets": "harmful:rule"},
    "optimizer": {"learner__optimizer": "harmful:Optimizer"},
    "schedule": {"learner__schedule": "harmful:schedule"},
    "phase": {"from_level": {"2": {"learner": "harmful:Learner"}}},
    "dataset format": {"dataset__format": "harmful:FORMAT"},
    "reference": {"comparison__references": ["random", "harmful:Player?epsilon=0.1"]},
    "rule of a search": {"comparison__references": ["mcts:rollouts?simulations=9&rule=harmful:rule"]},
    "command": {"comparison__references": ["random", "gtp:touch imported"]},
}


@pytest.mark.usefixtures("forget_modules")
@pytest.mark.parametrize("case", CODE)
def test_recorded_settings_run_no_code_that_the_user_has_not_named(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "harmful.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\nclass Player:\n    act = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "harmful", raising=False)
    path = record(tmp_path, **CODE[case])
    name = next(iter(CODE[case])).replace("__", ".")
    with assert_file_rejected(path, rf"{name}.*=.* names code outside this program; if you trust it, set {name}"):
        settings_of_run(tmp_path)
    assert not (tmp_path / "imported").exists()
    if case == "reference":
        # A recipe replaces all recorded settings.
        assert settings_of_run(tmp_path, ["recipe=default"]).comparison.references is None
        settings = settings_of_run(tmp_path, ["modules=[harmful]"])
        assert settings.comparison.references == CODE[case]["comparison__references"]


def test_a_game_of_another_package_is_named_once_for_each_command(
    tmp_path: Path, forget_modules: Callable[[], None]
) -> None:
    name, network = "tests.support.pile:Pile", "tests.support.outside_training:PolicyNetwork"
    record(tmp_path, game__name=name, architecture={"name": network}, levels=3)
    with pytest.raises(InvalidFileError, match=r"set architecture\.name yourself"):
        settings_of_run(tmp_path, [f"game.name={name}"])
    for given in (
        ["modules=[tests.support.outside_training]"],
        ["architecture=custom", f"architecture.name={network}"],
    ):
        forget_modules()
        settings = settings_of_run(tmp_path, [f"game.name={name}", *given])
        assert (settings.game.name, settings.architecture["name"], settings.levels) == (name, network, 3)


def test_recorded_settings_are_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAME", "harmful:Game")
    path = record(tmp_path, game__name="${oc.env:GAME}")
    with assert_file_rejected(path, "is not a value"):
        settings_of_run(tmp_path)


def test_modules_and_commands_are_told_from_the_names_of_players() -> None:
    names = ["level:3", "policy:3?temperature=1", "mcts:rollouts", "my_module:Player", "perfect", "gtp:program --fast"]
    assert list(modules_in(names)) == ["my_module"]
    assert list(commands_in(names)) == ["gtp:program --fast"]
