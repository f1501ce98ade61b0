"""Small disks, on which writing fails."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk_at(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """Mount a disk of this size at `folder`; gives a function that changes its size. Skips the test if impossible."""

    def mount(*options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
        mounted = subprocess.run(command, check=False, capture_output=True, text=True)
        if mounted.returncode != 0:
            pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")

    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    folder.mkdir(parents=True, exist_ok=True)
    mount(f"size={size}")
    try:
        yield lambda new_size: mount("remount", f"size={new_size}")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def read_only_at(folder: Path, content: Path) -> Iterator[Path]:
    """What is in the folder `content`, at `folder`, where nothing can be written. Skips the test if impossible."""
    folder.mkdir(parents=True)
    for command in (["mount", "--bind", str(content)], ["mount", "-o", "remount,ro,bind"]):
        if os.geteuid() != 0 or subprocess.run([*command, str(folder)], check=False, capture_output=True).returncode:
            pytest.skip("only root may mount a folder")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
