"""The rank of this process among those started by torchrun, from its environment variables."""

import os
import time

PATIENCE = 5.0
"""Seconds to wait. When one process fails, torchrun ends the others well within this time."""


def process_count() -> int:
    """Number of processes that torchrun started; 1 without torchrun."""
    return max(1, _number("WORLD_SIZE"))


def process_rank() -> int:
    """The rank of this process, from 0; only the first writes files and prints."""
    return _number("RANK") if process_count() > 1 else 0


def wait_to_be_ended() -> None:
    """Wait, so that the process that failed first can report the error and torchrun can end this one."""
    time.sleep(PATIENCE)


def _number(variable: str) -> int:
    digits = os.environ.get(variable, "")
    # Python refuses to convert numbers of more than 4,300 digits.
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0
