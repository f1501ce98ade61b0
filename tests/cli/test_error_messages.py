"""Errors of the scripts are one line and an exit code."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay.runs.run_folder import RunFolder
from tests.support.rejections import assert_refused
from tests.support.runs import (
    COMPARE,
    CONSOLE,
    GENERATE,
    PLOT,
    PROJECT,
    TINY,
    TRAIN,
    files_of,
    run_forked,
    run_script,
)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["game=chess"], ["game=chess: choose from ", "sumto100, tictactoe"]),
        (["recipe=best"], ["recipe=best: choose from ", "article, connect_four"]),
        (["game=1"], ["game=1"]),
        (["foo=1"], ["'foo'"]),
        (["matches=abc"], ["matches=abc: must be a whole number"]),
        (["gamma=2"], ["gamma=2.0: must be between 0 and 1"]),
        (["a=b=c"], ["a=b=c"]),
        (["--level"], ["--level needs a value"]),
        (["--foo"], ["unknown flag --foo"]),
        (["--level", 0], ["level 0 is the random player"]),
        (["seed=0,1"], ["seed=0,1"]),
        ([f"seed={'9' * 5000}"], ["seed=999", "a number has more than 4,300 digits"]),
        (["executor.name=os:system"], ["executor 'os:system' has no attribute map"]),
        (["dataset.format=os:system"], ["dataset format 'os:system' has no attribute suffix"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_arguments_get_one_line_and_code_2(tmp_path, arguments, named):
    assert_refused(run_forked(TRAIN, f"run_dir={tmp_path / 'run'}", *arguments), 2, *named)


@pytest.mark.parametrize("argument", ["game=chess", "matches=abc", "gamma=2", "--foo"])
def test_a_new_process_prints_the_same_as_a_forked_one(tmp_path, argument):
    arguments = [f"run_dir={tmp_path / 'run'}", argument]
    own, forked = run_script(TRAIN, *arguments), run_forked(TRAIN, *arguments)
    assert (own.returncode, own.stdout, own.stderr) == (forked.returncode, forked.stdout, forked.stderr)


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("architecture.name=[mlp]", "unknown architecture ['mlp']; choose from alphazero_mlp, "),
        ("architecture.name=best", "unknown architecture 'best'; choose from alphazero_mlp, "),
        ("architecture.dropout=half", "'half'"),
        ("architecture.hidden_sizes=[0]", "architecture.hidden_sizes=[0]: must be integers of at least 1"),
    ],
)
def test_a_network_that_cannot_be_built_gets_one_line_and_code_2(run_copy, argument, named):
    shutil.rmtree(run_copy / "level_01")
    assert_refused(run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 1, argument), 2, named)
    assert not (run_copy / "level_01").exists()


def test_a_network_for_boards_is_refused_for_a_game_without_one(tmp_path):
    arguments = ["game=sumto100", "architecture=conv", "matches=50", f"run_dir={tmp_path}"]
    assert_refused(run_forked(GENERATE, "--level", 0, *arguments), 2, "architecture=conv needs a board")


@pytest.mark.parametrize(
    ("script", "arguments", "named"),
    [
        (GENERATE, ["--level", 7], "has no level 7; it has levels 1 to 3"),
        (TRAIN, ["--level", 9], "has no level 8; it has levels 1 to 3"),
        (TRAIN, ["--level", 4], "level_03/dataset.csv does not exist"),
        (CONSOLE, ["--level", 7], "has no level 7; it has levels 1 to 3"),
    ],
)
def test_a_missing_level_is_reported_with_the_existing_ones(run_copy, script, arguments, named):
    settings = [] if script == CONSOLE else TINY
    assert_refused(run_forked(script, *settings, f"run_dir={run_copy}", *arguments), 1, run_copy, named)


@pytest.mark.parametrize("script", [COMPARE, PLOT])
def test_a_missing_run_is_reported_and_not_created(tmp_path, script):
    assert_refused(run_forked(script, f"run_dir={tmp_path / 'none'}"), 1, tmp_path / "none", "does not exist")
    assert not (tmp_path / "none").exists()


def _without_last_column(content):
    return b"".join(line.rpartition(b",")[0] + b"\n" for line in content.splitlines())


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (_without_last_column, "column target is missing"),
        (lambda content: content[:-5], "is cut off in its last row"),
        (lambda content: b"", "holds no rows"),
    ],
    ids=["a column missing", "cut off", "empty"],
)
def test_a_broken_dataset_gets_one_line(run_copy, tmp_path, broken, named):
    shutil.rmtree(run_copy / "level_01")
    path = run_copy / "level_00" / "dataset.csv"
    path.write_bytes(broken(path.read_bytes()))
    copied = Path(shutil.copy(path, tmp_path / "copied.csv"))
    before = files_of(run_copy)
    arguments = [*TINY, f"run_dir={run_copy}", "--level", 1]
    assert_refused(run_forked(TRAIN, *arguments), 1, path, "differs from its manifest")
    assert_refused(run_forked(TRAIN, *arguments, f"dataset_file={copied}"), 1, copied, named)
    assert files_of(run_copy) == before


@pytest.mark.parametrize(
    ("script", "arguments"), [(GENERATE, ["level=3"]), (COMPARE, []), (CONSOLE, [])], ids=["play", "compare", "console"]
)
def test_a_checkpoint_of_another_game_gets_one_line(run_copy, script, arguments):
    settings = [] if script == CONSOLE else TINY
    result = run_forked(script, *settings, f"run_dir={run_copy}", "game=sumto100", *arguments)
    assert_refused(result, 1, "agent.safetensors", "is for tictactoe, not for sumto100")


def test_a_truncated_checkpoint_gets_one_line(run_copy):
    path = run_copy / "level_03" / "agent.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    assert_refused(run_forked(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 3), 1, path)


def test_a_checkpoint_of_another_architecture_gets_one_line(run_copy):
    shutil.rmtree(run_copy / "level_03")
    result = run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 3, "architecture=conv")
    assert_refused(result, 1, run_copy / "level_02" / "agent.safetensors", "has the architecture", "'conv'")


def test_a_stage_made_with_other_settings_gets_one_line(run_copy):
    before = files_of(run_copy)
    result = run_forked(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 1, "gamma=0.5")
    assert_refused(result, 1, run_copy / "level_01", "gamma was 0.9, is 0.5")
    assert files_of(run_copy) == before


def test_a_second_run_on_the_same_run_dir_gets_one_line(run_copy):
    with RunFolder(run_copy).lock():
        assert_refused(run_script(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 0), 1, "another process", run_copy)
    result = run_script(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 0)
    assert (result.returncode, result.stdout, result.stderr) == (0, "level 0: matches already generated, skipped\n", "")


def test_a_program_is_silent_when_the_reader_of_its_output_leaves() -> None:
    command = f"{shlex.quote(sys.executable)} {PROJECT}/play/console.py first=random second=random"
    ended = subprocess.run(
        ["bash", "-c", f"echo n | {command} | head -1; exit ${{PIPESTATUS[1]}}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.stdout.startswith("Tic-tac-toe, X: random, O: random")
    assert (ended.returncode, ended.stderr) == (141, "")
