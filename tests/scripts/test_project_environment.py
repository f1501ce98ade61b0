"""shell/project_environment.py: a script that is started with any Python uses one that has the project's packages."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.support.rejections import assert_refused
from tests.support.runs import PROJECT

BARE = [sys.executable, "-S"]
"""A Python without packages: -S leaves out site-packages."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the scripts, without an environment."""
    for folder in ("shell", "preprocessing", "train", "play", "benchmarks"):
        shutil.copytree(PROJECT / folder, tmp_path / "clone" / folder, symlinks=True)
    return tmp_path / "clone"


def environment_of(clone: Path, python: str) -> None:
    """Give the clone a .venv whose python is this shell script."""
    path = clone / ".venv" / "bin" / "python"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/bash\n{python}\n")
    path.chmod(0o755)


def started(command: list[str], cwd: Path) -> "subprocess.Popen[str]":
    """A process with no variables but PATH, as in a plain shell."""
    return subprocess.Popen(
        command, cwd=cwd, env={"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(command: list[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    process = started(command, cwd)
    output, error = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, output, error)


@pytest.mark.parametrize("script", ["train/learn", "benchmarks/seeds"])
def test_the_same_process_continues_with_the_projects_python_and_the_same_arguments(clone: Path, script: str) -> None:
    environment_of(clone, 'echo "$$"; printf "%s\\n" "$@"; exit 7')
    process = started([*BARE, "-u", f"{script}.py", "levels=2", "run_dir=two words"], clone)
    output, _ = process.communicate(timeout=120)
    assert output.splitlines() == [str(process.pid), "-S", "-u", f"{script}.py", "levels=2", "run_dir=two words"]
    assert process.returncode == 7


def test_without_an_environment_one_line_says_how_to_make_it(clone: Path) -> None:
    result = finished([*BARE, "learn.py"], clone / "train")
    assert_refused(result, 1, "run `bash ../shell/environment.sh` once")
    assert (clone / "train" / "../shell/environment.sh").exists()


@pytest.mark.slow
def test_a_script_runs_from_a_plain_shell(clone: Path) -> None:
    venv.create(clone / ".venv", symlinks=True)
    (packages,) = (clone / ".venv").glob("lib/python*/site-packages")
    (packages / "here.pth").write_text("\n".join([str(PROJECT), *filter(None, sys.path)]))
    bare = getattr(sys, "_base_executable", sys.executable)
    result = finished([bare, "train/train_agent.py", "--level", "0"], clone)
    assert_refused(result, 2, "level 0 is the random player")
