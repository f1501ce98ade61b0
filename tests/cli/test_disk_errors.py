"""Scripts on a full disk, or with a run folder that cannot be written to."""

import os
import shutil
from pathlib import Path

import pytest

from selfplay import generate_level
from selfplay.runs.run_folder import RunFolder
from tests.support.disks import small_disk_at
from tests.support.rejections import assert_refused
from tests.support.runs import GENERATE, TINY, TRAIN, files_of, run_forked, tiny_settings


def test_a_folder_that_cannot_be_created_gets_one_line(tmp_path):
    (tmp_path / "file").touch()
    for below in (tmp_path / "file", Path("/proc")):
        refused = run_forked(GENERATE, "--level", 0, f"run_dir={below / 'run'}")
        assert_refused(refused, 1, f"cannot write in {below / 'run'}")


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
