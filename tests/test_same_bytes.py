"""Portable runs have the same bytes on every processor: tests/data/digests.txt, in the format of sha256sum."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.runs import LEARN

DIGESTS = Path(__file__).parent / "data" / "digests.txt"
RUNS = {
    "default": ["levels=3"],
    "article": ["recipe=article", "levels=3"],
    "alphazero": ["recipe=alphazero", "levels=2"],
}
OLDER_PROCESSORS = {
    "torch": {"ATEN_CPU_CAPABILITY": "default"},
    "MKL and oneDNN": {
        "MKL_CBWR": "COMPATIBLE",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
    "numpy": {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
    "the C library": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX_Usable,-AVX2_Usable,-FMA_Usable"},
}


def recorded(run: str) -> dict[str, str]:
    """The digests of the files of a run, by their paths in the folder of all runs."""
    lines = [line.split() for line in DIGESTS.read_text().splitlines()]
    return {name: digest for digest, name in lines if name.startswith(f"{run}/")}


def digests_of_run(folder: Path, run: str, environment: dict[str, str], *settings: str) -> dict[str, str]:
    command = [sys.executable, str(LEARN), *RUNS[run], *settings, f"run_dir={folder / run}"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in recorded(run)}


@pytest.mark.parametrize("run", ["default"])
def test_a_run_has_the_recorded_bytes(tmp_path: Path, run: str) -> None:
    assert digests_of_run(tmp_path, run, {}) == recorded(run) != {}


@pytest.mark.slow
@pytest.mark.parametrize("run", ["article", "alphazero"])
def test_other_recipes_have_the_recorded_bytes(tmp_path: Path, run: str) -> None:
    assert digests_of_run(tmp_path, run, {}, "threads=2") == recorded(run) != {}


@pytest.mark.slow
@pytest.mark.parametrize("run", ["default", "alphazero"])
@pytest.mark.parametrize("library", OLDER_PROCESSORS)
def test_a_run_has_the_recorded_bytes_with_the_instructions_of_older_processors(
    tmp_path: Path, run: str, library: str
) -> None:
    assert digests_of_run(tmp_path, run, OLDER_PROCESSORS[library]) == recorded(run) != {}
