"""The files of a run: whole or not at all, described by a manifest, and held by one run at a time."""

import fcntl
import json
import signal
import subprocess
import sys

import pytest

from selfplay.errors import InvalidFileError, RunLockedError, StageError
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.run_lock import LOCK_DESCRIPTOR
from selfplay.runs.written_files import sha256, written_whole

HOLD = """
import sys
import time
from pathlib import Path
from selfplay.runs.run_folder import RunFolder
with RunFolder(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(600)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---------------------------------------------------------------------- written whole


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "new folder" / "file.txt"
    with written_whole(path) as beside:
        beside.write_text("half")
        assert not path.exists()
        assert beside.parent == path.parent
        beside.write_text("whole")
    assert path.read_text() == "whole"
    assert names(path.parent) == ["file.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_no_partial_one(tmp_path, error):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write_half():
        with written_whole(path) as beside:
            beside.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


def test_a_failure_before_anything_is_written_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="before"), written_whole(tmp_path / "file.txt"):
        raise ValueError("before")
    assert names(tmp_path) == []


def test_a_failing_disk_is_named_with_the_file(tmp_path):
    path = tmp_path / "file.txt"
    with pytest.raises(StageError, match=rf"cannot write {path}: No space left on device"), written_whole(path):
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


def test_a_block_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(StageError, match="cannot write"), written_whole(tmp_path / "file.txt"):
        pass


def test_a_partial_file_left_by_a_kill_is_written_over(tmp_path):
    path = tmp_path / "file.txt"
    with written_whole(path) as beside:
        left = beside
        beside.write_text("whole")
    left.write_text("left by a process that was killed, and longer than what comes now")
    with written_whole(path) as beside:
        beside.write_text("new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["file.txt"]


def test_sha256_of_known_bytes(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


# ---------------------------------------------------------------------- where files stand


def test_the_files_of_a_run_stand_where_the_design_says(tmp_path):
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


def test_a_level_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    run = RunFolder(tmp_path)
    with pytest.raises(StageError, match="has no level 4; it has no trained level yet"):
        run.check_level(4)
    for level in (1, 2):
        run.level(level).mkdir()
        run.agent(level).touch()
    run.check_level(2)
    with pytest.raises(StageError, match="has no level 4; it has levels 1 to 2"):
        run.check_level(4)


# ---------------------------------------------------------------------- manifest

SETTINGS = {"seed": 1, "epsilons": [0.5, 0.1], "note": None}


@pytest.fixture
def done(tmp_path):
    """A level whose stage `generation` is done."""
    (tmp_path / "dataset.csv").write_text("rows")
    Manifest(tmp_path).record("generation", SETTINGS, {"rows": 4}, ["dataset.csv"])
    return tmp_path


def test_a_stage_is_not_done_before_it_is_recorded(tmp_path):
    assert not Manifest(tmp_path).is_done("generation", SETTINGS, force=False)


def test_a_recorded_stage_with_the_same_settings_is_done(done):
    assert Manifest(done).is_done("generation", dict(reversed(SETTINGS.items())), force=False)
    assert Manifest(done).is_done("generation", SETTINGS, force=True)
    assert not Manifest(done).is_done("training", SETTINGS, force=False)


def test_a_manifest_says_what_was_made(done):
    content = json.loads((done / "manifest.json").read_text())
    section = content["generation"]
    assert section["settings"] == SETTINGS
    assert section["counts"] == {"rows": 4}
    assert section["files"] == {"dataset.csv": sha256(done / "dataset.csv")}
    assert section["versions"].keys() == {"selfplay", "torch", "numpy"}


def test_a_stage_whose_file_is_gone_is_not_done(done):
    (done / "dataset.csv").unlink()
    assert not Manifest(done).is_done("generation", SETTINGS, force=False)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2}, "seed was 1, is 2"),
        ({"epsilons": [0.5]}, r"epsilons was \[0.5, 0.1\], is \[0.5\]"),
        ({"note": "x"}, 'note was null, is "x"'),
        ({"threads": 1}, "threads was null, is 1"),
        ({"seed": 2, "note": "x"}, 'note was null, is "x", seed was 1, is 2'),
    ],
)
def test_other_settings_are_refused_and_named_unless_forced(done, changed, message):
    settings = {**SETTINGS, **changed}
    with pytest.raises(StageError, match=f"{message}; set another run_dir, or force=true"):
        Manifest(done).is_done("generation", settings, force=False)
    assert not Manifest(done).is_done("generation", settings, force=True)


def test_a_setting_that_is_no_longer_there_differs(done):
    with pytest.raises(StageError, match="seed was 1, is null"):
        Manifest(done).is_done("generation", {"epsilons": [0.5, 0.1], "note": None}, force=False)


def test_a_file_changed_since_is_refused_unless_forced(done):
    (done / "dataset.csv").write_text("other rows")
    with pytest.raises(StageError, match=r"dataset\.csv was changed after it was made"):
        Manifest(done).is_done("generation", SETTINGS, force=False)
    assert not Manifest(done).is_done("generation", SETTINGS, force=True)


def test_a_forgotten_stage_is_not_done_and_others_stay(done):
    (done / "agent").write_text("weights")
    Manifest(done).record("training", SETTINGS, {}, ["agent"])
    Manifest(done).forget("generation")
    assert not Manifest(done).is_done("generation", SETTINGS, force=False)
    assert Manifest(done).is_done("training", SETTINGS, force=False)


def test_the_same_record_gives_the_same_bytes(done):
    before = (done / "manifest.json").read_bytes()
    Manifest(done).forget("generation")
    Manifest(done).record("generation", dict(reversed(SETTINGS.items())), {"rows": 4}, ["dataset.csv"])
    assert (done / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"format": 0}', '{"format": 2}', '"format"', "7"])
def test_a_file_that_is_no_manifest_is_refused_by_name(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InvalidFileError, match=r"manifest\.json: is not a manifest of this format"):
        Manifest(tmp_path)


@pytest.mark.parametrize("section", ['"text"', "[]", "{}", "null", '{"files": {}}'])
def test_a_manifest_with_a_foreign_section_is_refused_by_name(done, section):
    (done / "manifest.json").write_text(f'{{"format": 1, "generation": {section}}}')
    with pytest.raises(InvalidFileError, match=r"manifest\.json: is not a manifest of this format"):
        Manifest(done).is_done("generation", SETTINGS, force=False)


def test_a_manifest_of_bytes_that_are_no_text_is_refused_by_name(tmp_path):
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFileError, match=r"manifest\.json: is not a manifest of this format"):
        Manifest(tmp_path)


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


def test_a_lock_inherited_from_the_shell_lets_its_children_in(tmp_path, monkeypatch):
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
