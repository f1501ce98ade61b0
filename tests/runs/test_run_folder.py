"""The folder of a run: its paths, its levels and its lock."""

import fcntl
import signal
import subprocess
import sys

import pytest

from selfplay.errors import RunLockedError, StageError
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.run_lock import LOCK_DESCRIPTOR

HOLD = """
import sys
import time
from pathlib import Path
from selfplay.runs.run_folder import RunFolder
with RunFolder(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(600)
"""


# ---------------------------------------------------------------------- where files stand


def test_the_files_of_a_run_have_their_documented_paths(tmp_path):
    run = RunFolder(tmp_path)
    assert run.dataset(0) == tmp_path / "level_00" / "dataset.csv"
    assert run.agent(3) == tmp_path / "level_03" / "agent.safetensors"
    assert run.epoch_loss(17) == tmp_path / "level_17" / "epoch_loss.csv"
    assert run.level(100) == tmp_path / "level_100"
    assert run.comparison == tmp_path / "comparison" / "levels.csv"
    assert run.figures == tmp_path / "figures"


def test_the_trained_levels_are_those_with_an_agent_in_order(tmp_path):
    run = RunFolder(tmp_path)
    assert run.trained_levels() == []
    for level in (10, 2, 1):
        run.level(level).mkdir()
        run.agent(level).touch()
    run.level(3).mkdir()
    (tmp_path / "level_best").mkdir()
    (tmp_path / "level_best" / "agent.safetensors").touch()
    assert run.trained_levels() == [1, 2, 10]


def test_a_missing_level_is_refused_with_the_existing_ones(tmp_path):
    run = RunFolder(tmp_path)
    with pytest.raises(StageError, match="has no level 4; it has no trained level yet"):
        run.check_level(4)
    for level in (1, 2):
        run.level(level).mkdir()
        run.agent(level).touch()
    run.check_level(2)
    with pytest.raises(StageError, match="has no level 4; it has levels 1 to 2"):
        run.check_level(4)


# ---------------------------------------------------------------------- lock


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the run."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_run_held_by_another_process_is_refused_and_free_after_its_kill(tmp_path, holder):
    with pytest.raises(RunLockedError, match=f"another process is using {tmp_path}"), RunFolder(tmp_path).lock():
        pytest.fail("the lock was given")
    holder.send_signal(signal.SIGKILL)
    assert holder.wait() == -signal.SIGKILL
    with RunFolder(tmp_path).lock():
        assert (tmp_path / ".lock").exists()


def test_another_run_dir_is_free(tmp_path, holder):
    with RunFolder(tmp_path / "other").lock():
        assert (tmp_path / "other" / ".lock").exists()


def test_the_lock_is_free_after_its_block(tmp_path):
    for _ in range(2):
        with RunFolder(tmp_path).lock():
            pass
    with pytest.raises(ZeroDivisionError), RunFolder(tmp_path).lock():
        raise ZeroDivisionError
    with RunFolder(tmp_path).lock():
        pass


def test_a_lock_inherited_from_the_shell_admits_its_children(tmp_path, monkeypatch):
    with RunFolder(tmp_path).lock(), (tmp_path / ".lock").open("ab") as foreign:
        monkeypatch.setenv(LOCK_DESCRIPTOR, str(foreign.fileno()))
        # Open, but it does not hold the lock.
        with pytest.raises(RunLockedError), RunFolder(tmp_path).lock():
            pytest.fail("the lock was given")
    with (tmp_path / ".lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        monkeypatch.setenv(LOCK_DESCRIPTOR, str(held.fileno()))
        with RunFolder(tmp_path).lock():
            pass
        monkeypatch.delenv(LOCK_DESCRIPTOR)
        with pytest.raises(RunLockedError), RunFolder(tmp_path).lock():
            pytest.fail("the lock was given")


@pytest.mark.parametrize("number", ["", "text", "-1", "99999"])
def test_a_wrong_number_of_an_inherited_lock_is_ignored(tmp_path, monkeypatch, number):
    monkeypatch.setenv(LOCK_DESCRIPTOR, number)
    with RunFolder(tmp_path).lock():
        pass


def test_a_run_dir_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(StageError, match=rf"cannot write in {tmp_path / 'file'}: "),
        RunFolder(tmp_path / "file").lock(),
    ):
        pytest.fail("the lock was given")
