"""Tasks for executors. Workers import this file, so it imports nothing that takes long."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.executors import EXECUTORS


class Job(NamedTuple):
    number: int
    notes: Path = Path("nowhere")


def jobs(count: int, notes: Path = Path("nowhere")) -> list[Job]:
    return [Job(number, notes) for number in range(count)]


def square(job: Job) -> tuple[int, int]:
    return job.number**2, os.getpid()


def refuse(job: Job) -> None:
    raise StageError(f"job {job.number} cannot be done")


def refuse_file(job: Job) -> None:
    raise InvalidFileError(job.notes, f"job {job.number} cannot read it")


def die_at_first(job: Job) -> int:
    """Job 3 kills its worker, as often as `notes` says."""
    left = int(job.notes.read_text()) if job.number == 3 else 0
    if left:
        job.notes.write_text(str(left - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return job.number


def may_name(job: Job) -> bool:
    """Whether a file may name an object of the module `colorsys` in this worker."""
    with suppress(SettingError):
        EXECUTORS.check_recorded("colorsys:Executor")
        return True
    return False
