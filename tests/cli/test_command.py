"""Running a script: Hydra's flags, sweeps and the log."""

import os

import pandas as pd
import pytest

from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, GENERATE, TRAIN, files_of, run_forked


def test_cfg_job_shows_the_settings_and_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run_forked(TRAIN, "--cfg", "job", "--seed", 5)
    assert (result.returncode, result.stderr) == (0, "")
    assert "\nseed: 5\n" in f"\n{result.stdout}"
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_sweep_makes_a_run_folder_for_each_value_and_logs_messages_with_their_time(tmp_path):
    sweep = tmp_path / "sweep"
    arguments = ["--level", 0, "matches=50"]
    result = run_forked(GENERATE, "-m", "seed=0,1", *arguments, f"run_dir={sweep}")
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(path.name for path in sweep.iterdir() if path.is_dir()) == ["seed=0", "seed=1"]
    one = run_forked(GENERATE, *arguments, "--seed", 1, f"run_dir={tmp_path / 'one'}")
    lines = (tmp_path / "one" / "run.log").read_text().splitlines()
    times, messages = zip(*((line[:23], line[24:]) for line in lines), strict=True)
    assert list(messages) == one.stdout.splitlines()
    assert all(pd.to_datetime(time.partition(",")[0]).year >= 2025 for time in times)
    assert files_of(sweep / "seed=1") == files_of(tmp_path / "one") != files_of(sweep / "seed=0")
    # A folder of the sweep can be named like any other.
    again = run_forked(GENERATE, *arguments, "--seed", 1, f"run_dir={sweep / 'seed=1'}")
    assert (again.returncode, again.stdout) == (0, "level 0: matches already generated, skipped\n")


def test_a_pipe_in_place_of_the_log_is_refused(tmp_path):
    os.mkfifo(tmp_path / "run.log")
    refused = run_forked(GENERATE, "--level", 0, "matches=50", f"run_dir={tmp_path}")
    assert_refused(refused, 1, f"cannot write {tmp_path / 'run.log'}: it is not a regular file")


def test_a_program_plays_the_game_that_the_run_has_recorded(tiny_run):
    refused = run_forked(COMMAND, "prove", f"run_dir={tiny_run}")
    assert_refused(refused, 2, "game=tictactoe has no exact solver; games with one: connect_four, othello")
    refused = run_forked(COMMAND, "prove", f"run_dir={tiny_run}", "game=connect_four")
    assert_refused(refused, 1, "is for tictactoe, not for connect_four")


def test_a_sweep_without_a_folder_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = run_forked(GENERATE, "-m", "seed=0,1", "--level", 0, "matches=50", "run_dir=")
    assert_refused(refused, 2, "run_dir='': must be the path of a folder")
    assert not any(tmp_path.iterdir())
