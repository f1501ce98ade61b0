"""The lock of a run: one process at a time."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from selfplay.errors import RunLockedError, SettingError, StageError
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import CommonSettings

HOLD = """
import sys
import time
from pathlib import Path
from selfplay.runs.run_folder import RunFolder
with RunFolder(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(600)
"""


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
    with RunFolder(tmp_path / "other").lock():
        assert (tmp_path / "other" / ".lock").exists()
    holder.send_signal(signal.SIGKILL)
    assert holder.wait() == -signal.SIGKILL
    with RunFolder(tmp_path).lock():
        assert (tmp_path / ".lock").exists()


def test_the_lock_is_free_after_its_block(tmp_path):
    for _ in range(2):
        with RunFolder(tmp_path).lock():
            pass
    with pytest.raises(ZeroDivisionError), RunFolder(tmp_path).lock():
        raise ZeroDivisionError
    with RunFolder(tmp_path).lock():
        pass


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_folder_deleted_while_it_is_locked_is_an_error(tmp_path, is_made_again):
    run = RunFolder(tmp_path / "run")

    def delete():
        shutil.rmtree(run.path)
        if is_made_again:
            run.path.mkdir()
            (run.path / ".lock").touch()

    with pytest.raises(StageError, match=rf"^{run.path} was deleted or replaced meanwhile; run the"), run.lock():
        delete()


def test_a_pipe_in_place_of_the_lock_is_refused(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    message = rf"^cannot write {tmp_path}/\.lock: it is not a regular file$"
    with pytest.raises(StageError, match=message), RunFolder(tmp_path).lock():
        pytest.fail("the lock was given")


def test_a_block_that_fails_leaves_neither_lock_nor_new_folder(tmp_path):
    with pytest.raises(FileExistsError), RunFolder(tmp_path / "new").lock():
        (tmp_path / "new" / "level_00").mkdir() or (tmp_path / "new").mkdir()
    assert list(tmp_path.iterdir()) == []


def test_a_run_dir_with_a_control_character_is_refused():
    sign = "\n"
    with pytest.raises(SettingError, match=r"^run_dir=.*: must be the path of a folder, in printable") as caught:
        CommonSettings(f"runs{sign}here")
    assert "\n" not in str(caught.value)
