"""This process: its cores, environment and memory, and its rank among the processes that torchrun started."""

import ctypes
import gc
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

SECONDS_TO_BE_ENDED = 5.0
"""Seconds to wait. When one process fails, torchrun ends the others well within this time."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3) of the GNU C library."""
KEPT_BYTES = 64 << 20
"""The free memory at the end of the heap that is not returned to the system."""
MAPPED_BYTES = 32 << 20
"""Allocations from this size are mapped and unmapped one by one; 32 MiB is the largest size that mallopt accepts."""


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def default_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set those of these variables of the environment that are not set, for the block."""
    added = variables.keys() - os.environ.keys()
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def tune_process() -> None:
    """Speed up a process of our own, a command or a worker: rare garbage collection, and freed memory is kept.

    Imports create many objects and no garbage. Each step of training allocates and frees the same few megabytes. If
    they are at the end of the heap, the GNU C library by default returns them to the system, and each step needs new
    pages, which slow training down.
    """
    gc.set_threshold(200_000)
    if platform.libc_ver()[0] != "glibc":
        return
    library = ctypes.CDLL(None)
    library.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
    library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


def process_count() -> int:
    """Number of processes that torchrun started; 1 without torchrun."""
    return max(1, _number("WORLD_SIZE"))


def process_rank() -> int:
    """The rank of this process among those of torchrun, from 0; only the first writes files and prints."""
    return _number("RANK") if process_count() > 1 else 0


def wait_to_be_ended() -> None:
    """Wait, so that the process that failed first can report the error and torchrun can end this one."""
    time.sleep(SECONDS_TO_BE_ENDED)


def _number(variable: str) -> int:
    digits = os.environ.get(variable, "")
    # Python refuses to convert numbers of more than 4,300 digits.
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0
