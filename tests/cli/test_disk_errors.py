"""Scripts on a full disk, or with a run folder that cannot be written to."""

import errno
import io
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay import generate_level
from selfplay.cli.command import logging_to_screen
from selfplay.errors import TOO_MANY_FILES, StageError, line_of
from selfplay.runs.run_folder import RunFolder
from tests.support.disks import read_only_at, small_disk_at
from tests.support.rejections import assert_refused
from tests.support.runs import COMPARE, GENERATE, LEARN, TINY, TRAIN, files_of, run_forked, tiny_settings

MAIN = "from selfplay.cli.main import main; main()"


def test_a_folder_that_cannot_be_created_gets_one_line(tmp_path):
    (tmp_path / "file").touch()
    for below in (tmp_path / "file", Path("/proc")):
        refused = run_forked(GENERATE, "--level", 0, f"run_dir={below / 'run'}")
        assert_refused(refused, 1, f"cannot write in {below / 'run'}")


@pytest.fixture
def read_only(run_copy, tmp_path):
    """A finished run on a file system that cannot be written."""
    assert run_forked(LEARN, *TINY, f"run_dir={run_copy}").returncode == 0
    with read_only_at(tmp_path / "mounted", run_copy) as folder:
        yield folder


@pytest.mark.slow
def test_a_finished_run_that_cannot_be_written_repeats_its_commands(read_only):
    for script, level, said in (
        (LEARN, [], "already compared, skipped"),
        (COMPARE, [], "already compared, skipped"),
        (TRAIN, ["--level", 2], "already trained"),
    ):
        again = run_forked(script, *TINY, *level, f"run_dir={read_only}")
        assert (again.returncode, again.stderr) == (0, "")
        assert said in again.stdout
    refused = run_forked(COMPARE, *TINY, "comparison.matches=7", f"run_dir={read_only}")
    assert_refused(refused, 1, f"cannot write {read_only}/", "Read-only file system")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named_with_what_to_do(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("selfplay.runs.run_folder.fcntl.flock", refused)
    message = rf"cannot lock .*\.lock: {os.strerror(number)}; set run_dir to a folder of a file system with locks"
    with pytest.raises(StageError, match=message), RunFolder(tmp_path / "run").lock():
        pass
    assert not (tmp_path / "run" / "level_00").exists()


@pytest.mark.slow
def test_a_program_with_too_many_open_files_says_what_to_do(tmp_path):
    few = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9)); {MAIN}"
    command = [sys.executable, "-c", few, "generate", "--level", "0", "executor=process", f"run_dir={tmp_path}"]
    assert_refused(subprocess.run(command, check=False, capture_output=True, text=True), 1, TOO_MANY_FILES)


def test_an_error_by_too_many_open_files_says_what_to_do():
    assert line_of(ImportError("libx.so: cannot open shared object file: Too many open files")) == TOO_MANY_FILES
    assert line_of(OSError(errno.EMFILE, "Too many open files", "/lib/libx.so")) == TOO_MANY_FILES


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        pytest.param(["solve", "game=connect_four", "moves=4444441"], marks=pytest.mark.slow),
        pytest.param(["play-matches", "first=random", "second=random", "matches=5"], marks=pytest.mark.slow),
    ],
)
def test_a_full_device_behind_stdout_is_named(arguments):
    assert_full_device_is_named(*arguments)


@pytest.mark.slow
def test_a_full_device_is_named_by_the_matches_of_tables(tmp_path):
    learn = [sys.executable, "-m", "selfplay", "train-tabular", "episodes=50", f"run_dir={tmp_path}"]
    subprocess.run(learn, check=True, capture_output=True)
    assert_full_device_is_named("compete", "matches=10", f"run_dir={tmp_path}")


def assert_full_device_is_named(*arguments):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "selfplay", *arguments]
        ended = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (1, "error: cannot write to stdout: No space left on device\n")


class Refusing(io.StringIO):
    """A stream that refuses each line with another error."""

    def __init__(self, *numbers):
        super().__init__()
        self.refusals = [OSError(number, os.strerror(number)) for number in numbers]

    def write(self, _):
        raise self.refusals.pop(0)


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, OSError), (errno.EPIPE, BrokenPipeError)])
def test_a_result_in_the_log_that_stdout_does_not_take_is_an_error_at_the_end(monkeypatch, number, kind):
    said = []

    def say(to, screen):
        monkeypatch.setattr(sys, "stdout", screen)
        with logging_to_screen(to):
            for line in ("match 1", "match 2"):
                logging.getLogger("selfplay").info(line)
                said.append(line)

    screen = Refusing(number, errno.EIO)
    with pytest.raises(kind, match=os.strerror(number)):
        say(screen, screen)
    # Engines answer on stdout and log to stderr, which nobody needs to read.
    say(Refusing(number, errno.EIO), io.StringIO())
    assert said == ["match 1", "match 2"] * 2


def test_an_error_of_the_program_precedes_that_of_its_log(monkeypatch):
    def fail_after_a_line(screen):
        with logging_to_screen(screen):
            logging.getLogger("selfplay").info("match 1")
            raise StageError("broken")

    monkeypatch.setattr(sys, "stdout", screen := Refusing(errno.ENOSPC))
    with pytest.raises(StageError, match="broken"):
        fail_after_a_line(screen)


def test_a_folder_of_an_unknown_user_is_not_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = run_forked(GENERATE, "--level", 0, "run_dir=~nosuchuser/x")
    assert_refused(refused, 2, "there is no home folder ~nosuchuser; ./~nosuchuser is a folder of that name here")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 300 kB, and a function that enlarges it."""
    disk = tmp_path / "disk"
    with small_disk_at(disk, "300k") as resize:
        yield disk, lambda: resize("20m")


def test_a_full_disk_leaves_no_partial_dataset_and_the_same_command_completes_it(small_disk, tmp_path):
    disk, enlarge = small_disk
    arguments = ["--level", 0, "matches=2000", f"run_dir={disk / 'run'}"]
    path = disk / "run" / "level_00" / "dataset.csv"
    assert_refused(run_forked(GENERATE, *arguments), 1, f"cannot write {path}", "No space left on device")
    assert files_of(disk) == {}
    enlarge()
    assert run_forked(GENERATE, *arguments).returncode == 0
    generate_level(tiny_settings(tmp_path / "roomy", "matches=2000"), 0)
    made, expected = (RunFolder(path).dataset(0).read_bytes() for path in (disk / "run", tmp_path / "roomy"))
    assert made == expected


def test_a_full_disk_leaves_no_partial_network_and_the_same_command_trains_it(small_disk, tiny_run):
    disk, enlarge = small_disk
    run_dir = disk / "run"
    shutil.copytree(tiny_run / "level_00", run_dir / "level_00")
    room = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize - 16384))
    arguments = [*TINY, "--level", 1, f"run_dir={run_dir}"]
    path = run_dir / "level_01" / "agent.safetensors"
    assert_refused(run_forked(TRAIN, *arguments), 1, f"cannot write {path}", "No space left on device")
    assert not any((run_dir / "level_01").iterdir())
    enlarge()
    assert run_forked(TRAIN, *arguments).returncode == 0
    assert path.read_bytes() == (tiny_run / "level_01" / "agent.safetensors").read_bytes()
