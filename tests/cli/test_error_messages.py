"""Errors of the scripts are one line and an exit code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay.runs.run_folder import RunFolder
from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, COMPARE, CONSOLE, GENERATE, PLOT, TINY, TRAIN, files_of, run_forked, run_script


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (
            ["game=chess"],
            ["game=chess: choose from ", "sumto100, tictactoe; a board of another size is written as in hex_5x5"],
        ),
        (["game=enum"], ["a board of another size is written as in hex_5x5; what is in enum is named enum:NAME"]),
        (["game=games/my.py:Mine"], ["game 'games/my.py:Mine': write my:Mine in the folder of the file, without .py"]),
        (["gmae=hex"], ["unknown setting 'gmae'; did you mean game?"]),
        (["--lerning-rate", "3"], ["unknown setting 'lerning_rate'; did you mean learner.learning_rate?"]),
        ([f"seed={'9' * 5000}"], ["Exceeds the limit (4300 digits)"]),
        (["dataset.format=os:system"], ["dataset format 'os:system' has no attribute suffix"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_arguments_get_one_line_and_code_2(tmp_path, arguments, named):
    assert_refused(run_forked(TRAIN, f"run_dir={tmp_path / 'run'}", *arguments), 2, *named)


@pytest.mark.parametrize(
    "name", ["inner/mine.py", "./inner/mine.py", "inner.mine", "inner.mine.Game", "inner/mine/Game"]
)
def test_what_is_in_a_file_is_named_where_a_file_or_a_dotted_name_is_given(tmp_path, monkeypatch, name):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "mine.py").write_text("raise RuntimeError('imported')")
    monkeypatch.chdir(tmp_path)
    hint = "hex_5x5; what is in inner.mine is named inner.mine:NAME"
    assert_refused(run_forked(TRAIN, f"run_dir={tmp_path / 'run'}", f"game={name}"), 2, f"error: game={name}: ", hint)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_lack_of_memory_gets_one_line(monkeypatch, error):
    def fail(_):
        raise error

    monkeypatch.setattr("selfplay.cli.entry.import_module", fail)
    assert_refused(run_forked(COMMAND, "learn"), 1, "memory ran out; end other programs, or raise the limit")


@pytest.mark.slow
def test_a_new_process_prints_the_same_as_a_forked_one(tmp_path):
    arguments = [f"run_dir={tmp_path / 'run'}", "matches=abc"]
    own, forked = run_script(TRAIN, *arguments), run_forked(TRAIN, *arguments)
    assert (own.returncode, own.stdout, own.stderr) == (forked.returncode, forked.stdout, forked.stderr)


def test_a_missing_level_is_reported_with_the_existing_ones(tiny_run):
    refused = run_forked(CONSOLE, f"run_dir={tiny_run}", "--level", 7)
    assert_refused(refused, 1, tiny_run, "has no level 7; it has levels 1 to 3")


@pytest.mark.parametrize("script", [COMPARE, PLOT])
def test_a_missing_run_is_reported_and_not_created(tmp_path, script):
    assert_refused(run_forked(script, f"run_dir={tmp_path / 'none'}"), 1, tmp_path / "none", "does not exist")
    assert not (tmp_path / "none").exists()


def test_a_missing_experience_graph_is_reported_with_what_makes_one(tmp_path):
    where = f"run_dir={tmp_path}"
    refused = run_forked(COMMAND, "export-experience", where)
    assert_refused(refused, 1, tmp_path / "experience.sqlite: does not exist", f"play-experience {where} makes one")
    refused = run_forked(COMMAND, "export-experience", where, "experience=minimax")
    chosen = f"experience.backup=minimax experience.path={tmp_path}/experience_minimax.sqlite"
    assert_refused(refused, 1, f"play-experience {where} {chosen} makes one")


def test_a_broken_dataset_gets_one_line(run_copy, tmp_path):
    shutil.rmtree(run_copy / "level_01")
    path = run_copy / "level_00" / "dataset.csv"
    path.write_bytes(b"".join(line.rpartition(b",")[0] + b"\n" for line in path.read_bytes().splitlines()))
    copied = Path(shutil.copy(path, tmp_path / "copied.csv"))
    before = files_of(run_copy)
    arguments = [*TINY, f"run_dir={run_copy}", "--level", 1]
    assert_refused(run_forked(TRAIN, *arguments), 1, path, "differs from its manifest")
    refused = run_forked(TRAIN, *arguments, f"dataset_file={copied}")
    assert_refused(refused, 1, copied, "column target is missing")
    assert files_of(run_copy) == before


def test_a_second_run_on_the_same_run_dir_gets_one_line(run_copy):
    with RunFolder(run_copy).lock():
        assert_refused(run_forked(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 0), 1, "another process", run_copy)


def test_a_program_is_silent_when_the_reader_of_its_output_leaves() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "selfplay", "--help"]
    ended = subprocess.run(command, check=False, stdout=write, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.slow
def test_a_locale_that_does_not_suit_is_named() -> None:
    environment = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    line = "in printable characters; PYTHONUTF8=1 lets Python read others than ASCII"
    command = [sys.executable, "-m", "selfplay", "play-matches", "run_dir=été"]
    assert_refused(
        subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | environment), 2, line
    )
