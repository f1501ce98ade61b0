"""Work that ends at a chosen moment, the same at any speed of the computer: a process that is killed at a change of its
files, and an interruption in a level."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import torch

from selfplay.progress import NoProgress

WRITING = os.O_WRONLY | os.O_RDWR


def is_killed_at_change(number: int, call: Callable[..., object], *arguments: Any, below: Path) -> bool:
    """Run call(*arguments) in a fork that is killed just before its change `number`, from 1, of files below the folder.

    A change is a file opened for writing or renamed. False if there were fewer. The call must leave torch with one
    thread: a fork does not have the other threads, and would wait for them forever.
    """
    child = multiprocessing.get_context("fork").Process(target=_run, args=(number, call, arguments, str(below)))
    child.start()
    child.join()
    assert child.exitcode in (0, -signal.SIGKILL)
    return child.exitcode != 0


def _run(number: int, call: Callable[..., object], arguments: Any, below: str) -> None:
    changes = count(1)

    def kill_at_its_change(event: str, values: tuple[Any, ...]) -> None:
        is_change = event == "os.rename" or (event == "open" and values[2] & WRITING)
        if is_change and str(values[0]).startswith(below) and next(changes) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill_at_its_change)
    torch.set_num_threads(1)
    call(*arguments)


def interrupted_in(level: int) -> type[NoProgress]:
    """A progress bar that interrupts the program at the first progress in this level."""

    class InterruptedBar(NoProgress):
        def __init__(self, *, total: int, desc: str) -> None:
            self.interrupts = desc.startswith(f"level {level}:")

        def update(self, count: int) -> None:
            if self.interrupts:
                raise KeyboardInterrupt

    return InterruptedBar
