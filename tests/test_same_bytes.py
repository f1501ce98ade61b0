"""Portable runs have the same bytes on every processor: tests/data/digests.txt, in the format of sha256sum."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay.stages.loop import learn_levels
from tests.support.runs import LEARN, files_of, tiny_settings

DIGESTS = Path(__file__).parent / "data" / "digests.txt"
RUNS = {
    "default": ["levels=3"],
    "article": ["recipe=article", "levels=3"],
    "alphazero": ["recipe=alphazero", "levels=2"],
}
OLDER_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX_Usable,-AVX2_Usable,-FMA_Usable",
}
"""Lets torch, MKL, oneDNN, numpy and the C library use the instructions of an older processor."""


def recorded(run: str) -> dict[str, str]:
    """The digests of the files of a run, by their paths in the folder of all runs."""
    lines = [line.split() for line in DIGESTS.read_text().splitlines()]
    return {name: digest for digest, name in lines if name.startswith(f"{run}/")}


def digests_of_run(folder: Path, run: str, environment: dict[str, str]) -> dict[str, str]:
    command = [sys.executable, str(LEARN), *RUNS[run], f"run_dir={folder / run}"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in recorded(run)}


def test_a_run_has_the_recorded_bytes(tmp_path: Path) -> None:
    assert digests_of_run(tmp_path, "default", {}) == recorded("default") != {}


def test_threads_change_no_byte(tmp_path: Path) -> None:
    for threads in (1, 2):
        learn_levels(tiny_settings(tmp_path / str(threads), f"threads={threads}"))
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


@pytest.mark.slow
@pytest.mark.parametrize("run", ["article", "alphazero"])
def test_other_recipes_have_the_recorded_bytes(tmp_path: Path, run: str) -> None:
    assert digests_of_run(tmp_path, run, {}) == recorded(run) != {}


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_a_run_has_the_recorded_bytes_with_the_instructions_of_an_older_processor(tmp_path: Path, run: str) -> None:
    assert digests_of_run(tmp_path, run, OLDER_PROCESSOR) == recorded(run) != {}
