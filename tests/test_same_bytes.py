"""Portable runs have the same bytes on every processor: tests/data/digests.txt, in the format of sha256sum."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay import learn_levels, settings_of_run
from tests.support.runs import LEARN, PROJECT, files_of, run_forked, tiny_settings

DIGESTS = Path(__file__).parent / "data" / "digests.txt"
RUNS = {
    "default": (3, []),
    "article": (3, ["matches=4000"]),
    "alphazero": (2, ["matches=600", "learner.epochs=4", "architecture.hidden_sizes=[64]"]),
}
"""By recipe, the number of levels and the other settings of the run that is recorded."""
OLDER_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX_Usable,-AVX2_Usable,-FMA_Usable",
}
"""Lets torch, MKL, oneDNN, numpy and the C library use the instructions of an older processor."""


def recorded(start: str) -> dict[str, str]:
    """The digests of files of runs whose paths in the folder of all runs begin like this."""
    lines = [line.split() for line in DIGESTS.read_text().splitlines()]
    return {name: digest for digest, name in lines if name.startswith(start)}


def assert_has_recorded_bytes(folder: Path, recipe: str, levels: int, start: str, **environment: str) -> None:
    """Learn `levels` levels of the recorded run; the files whose recorded paths start with `start` have its digests."""
    words = [f"recipe={recipe}", *RUNS[recipe][1], f"levels={levels}", f"run_dir={folder / recipe}"]
    if environment:
        command = [sys.executable, str(LEARN), *words]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    else:
        run_forked(LEARN, *words).check_returncode()
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in recorded(start)}
    assert found == recorded(start) != {}


def test_the_manual_has_the_commands_of_the_recorded_runs() -> None:
    page = (PROJECT / "docs" / "reproducibility.md").read_text().replace("\\\n", "")
    commands = re.findall(r"^ +python train/learn.py (.*outputs/digests/.*)$", page, re.MULTILINE)
    runs = [
        {f"recipe={recipe}", f"levels={levels}", *words, f"run_dir=outputs/digests/{recipe}"} - {"recipe=default"}
        for recipe, (levels, words) in RUNS.items()
    ]
    assert [set(shlex.split(command)) for command in commands] == runs


def test_the_first_level_of_a_run_has_the_recorded_bytes(tmp_path: Path) -> None:
    assert_has_recorded_bytes(tmp_path, "default", 1, "default/level_01/agent")


@pytest.mark.slow
def test_threads_change_no_byte(tiny_run: Path, tmp_path: Path) -> None:
    assert settings_of_run(tiny_run).threads == 1
    learn_levels(tiny_settings(tmp_path, "threads=2"))
    assert files_of(tmp_path) == files_of(tiny_run)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RUNS)
def test_a_run_has_the_recorded_bytes(tmp_path: Path, recipe: str) -> None:
    assert_has_recorded_bytes(tmp_path, recipe, RUNS[recipe][0], f"{recipe}/")


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["default", "alphazero"])
def test_the_instructions_of_an_older_processor_change_no_byte(tmp_path: Path, recipe: str) -> None:
    assert_has_recorded_bytes(tmp_path, recipe, 1, f"{recipe}/level_01/agent", **OLDER_PROCESSOR)
