"""Which of the processes that torchrun started this one is, by the variables that it sets."""

import os
import time

PATIENCE = 5.0
"""Seconds. When one process fails, torchrun ends the others well within them."""


def process_count() -> int:
    """How many processes were started together: 1 without torchrun."""
    return max(1, _number("WORLD_SIZE"))


def process_rank() -> int:
    """The number of this one among them, from 0; the first alone writes files and speaks."""
    return _number("RANK") if process_count() > 1 else 0


def wait_to_be_ended() -> None:
    """Leave the word to a process that knows better what went wrong; who is still there afterwards may speak."""
    time.sleep(PATIENCE)


def _number(variable: str) -> int:
    digits = os.environ.get(variable, "")
    return int(digits) if digits.isdecimal() else 0
