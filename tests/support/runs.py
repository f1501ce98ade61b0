"""A tiny run, and scripts as processes."""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

import numba

from selfplay import Settings, compose_settings
from selfplay.cli.programs import NAMES
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.compare import compare_and_report
from selfplay.stages.learning_run import open_run

PROJECT = Path(__file__).resolve().parents[2]
GENERATE = PROJECT / "preprocessing" / "generate_positions_expectations.py"
TRAIN = PROJECT / "train" / "train_agent.py"
COMPARE = PROJECT / "train" / "compare_levels.py"
PLOT = PROJECT / "train" / "plot_losses.py"
LEARN = PROJECT / "train" / "learn.py"
CONSOLE = PROJECT / "play" / "console.py"
COMMAND = PROJECT / "selfplay" / "__main__.py"
"""The command `selfplay`; its first argument is the name of a program."""

TINY_TRAINING = ["learner.epochs=3", "learner.steps_per_epoch=5", "learner.batch_size=64"]
"""For learners that fit networks."""
TINY_MATCHES = ["matches=300", "levels=3"]
TINY = [*TINY_MATCHES, *TINY_TRAINING]


def tiny_settings(run_dir: Path, *overrides: str) -> Settings:
    """The settings of a tiny run."""
    fits = not {"learner=td", "learner=expert"}.intersection(overrides)
    return replace(compose_settings([*(TINY if fits else TINY_MATCHES), *overrides]), run_dir=str(run_dir))


def report_of_comparison(settings: Settings) -> str:
    """Compare the levels of a run, as `selfplay compare` does; returns what it prints."""
    with open_run(settings, "compare") as run:
        return compare_and_report(run)


def files_of(run_dir: Path) -> dict[str, bytes]:
    """Every file of a run except the log, the lock and TensorBoard's events, which contain times."""
    left_out = {"run.log", ".lock", "tensorboard"}
    files = (path for path in sorted(run_dir.rglob("*")) if path.is_file())
    paths = [path for path in files if not set(path.relative_to(run_dir).parts) & left_out]
    return {str(path.relative_to(run_dir)): path.read_bytes() for path in paths}


@contextmanager
def held_by_another_thread(folder: Path) -> Iterator[None]:
    """Another thread of this process holds the lock of a run in the block."""
    is_held, is_done = threading.Event(), threading.Event()

    def hold() -> None:
        with RunFolder(folder).lock():
            is_held.set()
            is_done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    assert is_held.wait(60)
    try:
        yield
    finally:
        is_done.set()
        thread.join()


def run_script(script: Path, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script in a new process."""
    command = [sys.executable, str(script), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL)


def run_forked(
    script: Path, *arguments: object, stdin: str = "", closed: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Like run_script, in a fork of this process, which has imported torch already: ten times faster.

    `closed`: the standard stream, from 0 to 2, that is closed when the script starts.
    """
    streams = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
    os.pwrite(streams[0], stdin.encode(), 0)
    _, status = os.waitpid(forked(script, arguments, streams, closed), 0)
    os.close(streams[0])
    texts = []
    for descriptor in streams[1:]:
        os.lseek(descriptor, 0, os.SEEK_SET)
        with os.fdopen(descriptor, encoding="utf-8") as file:
            texts.append(file.read())
    return subprocess.CompletedProcess([str(script), *arguments], os.waitstatus_to_exitcode(status), *texts)


def interruptible(
    command: Sequence[object], cwd: Path | None = None, stderr: int | IO[str] = subprocess.PIPE
) -> "subprocess.Popen[str]":
    """A process that Ctrl-C reaches even if the tests run in the background, where shells ignore SIGINT."""
    return subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=cwd,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def interrupted_when_there_is(
    path: Path, script: Path, *arguments: object, number: signal.Signals = signal.SIGINT
) -> subprocess.CompletedProcess[str]:
    """The result of the script, in a fork, which receives the signal as soon as there is a file at `path`.

    stdout and stderr are read to their end, so no process that has inherited them is left.
    """
    pipes = [os.pipe() for _ in range(2)]
    child = forked(script, arguments, [os.open(os.devnull, os.O_RDONLY), *(end for _, end in pipes)])
    for _, end in pipes:
        os.close(end)
    give_up = time.monotonic() + 120
    while not path.exists() and time.monotonic() < give_up:
        time.sleep(0.02)
    is_there = path.exists()
    os.kill(child, number if is_there else signal.SIGKILL)
    texts = []
    for descriptor, _ in pipes:
        with os.fdopen(descriptor, encoding="utf-8") as file:
            texts.append(file.read())
    _, status = os.waitpid(child, 0)
    assert is_there, texts
    return subprocess.CompletedProcess([str(script), *arguments], os.waitstatus_to_exitcode(status), *texts)


def forked(script: Path, arguments: Iterable[object], streams: Sequence[int], closed: int | None = None) -> int:
    """Start the script in a fork with these descriptors as its streams 0 to 2; returns the id of the process."""
    import_what_commands_use()
    child = os.fork()
    if child == 0:
        # What is frozen is not written to by the garbage collector, so its memory need not be copied.
        gc.freeze()
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        become(script, arguments, closed)
    return child


def serve_forks() -> None:
    """Run scripts in forks of this process: `run_forked` by lines of JSON, from stdin to stdout."""
    for line in sys.stdin:
        asked = json.loads(line)
        script, *arguments = asked["words"]
        done = run_forked(Path(script), *arguments, stdin=asked["stdin"])
        print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)


@cache
def import_what_commands_use() -> None:
    """Import here what takes long, once, and let numba and Hydra load what they need for their first work."""
    import matplotlib.figure  # noqa: F401 - for the forks
    import pandas  # noqa: F401 - for the forks
    import torch.utils.tensorboard  # noqa: F401 - for the forks

    for module in NAMES:
        import_module(f"selfplay.cli.programs.{module}")
    numba.njit(lambda number: number)(1)
    compose_settings()


def become(script: Path, arguments: Iterable[object], closed: int | None = None) -> None:
    """Run the script in this process, a fork, and end it. The script has the descriptors 0 to 2 as its streams."""
    import runpy

    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        if closed is not None:
            name = ("stdin", "stdout", "stderr")[closed]
            getattr(sys, name).close()
            # As Python does when it starts.
            setattr(sys, name, None)
        sys.argv = [str(script), *map(str, arguments)]
        sys.path.insert(0, str(script.parent))
        runpy.run_path(str(script), run_name="__main__")
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(code)
