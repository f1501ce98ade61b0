"""Run a shell loop, and in this process the stages that it names, so that the libraries are imported only once.

    python shell/run_loop.py learn_tictactoe.sh seed=3

The loop is a script that sources shell/stages.sh. It hands over one stage at a time, through a pipe, and waits until it
has ended. A stage that fails ends this program with the exit code of the stage, and the loop with it.
"""

import project_environment

import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

from selfplay.cli.command import overrides_first
from selfplay.cli.entry import reporting_errors
from selfplay.errors import SettingError
from selfplay.settings.recorded import composed_for_run
from selfplay.stages.learning_run import check_run

NO_STAGE = b"0\0"
"""A request of no words."""


def levels_of(arguments: list[str]) -> int:
    """The number of levels in the settings. Raises SettingError."""
    overrides, flags = overrides_first(arguments)
    if flags:
        raise SettingError(f"{flags[0]}: the shell loop takes only settings; use train/learn.py {flags[0]}")
    settings = composed_for_run(overrides)
    check_run(settings)
    return settings.last_level


def run_loop(script: str, arguments: list[str]) -> int:
    """Run the loop with these arguments, and its stages as it asks for them. Returns its exit code."""
    requests, to_requests = os.pipe()
    to_results, results = os.pipe()
    variables = {"LEVELS": levels_of(arguments), "STAGE_REQUESTS": to_requests, "STAGE_RESULTS": to_results}
    loop = subprocess.Popen(
        ["bash", script, *arguments],
        env=os.environ | {name: str(value) for name, value in variables.items()},
        pass_fds=(to_requests, to_results),
    )
    os.close(to_results)

    def finish() -> None:
        # The pipe itself may stay open: a command that the loop has left in the background inherits it.
        loop.wait()
        os.write(to_requests, NO_STAGE)

    threading.Thread(target=finish, daemon=True).start()
    with os.fdopen(requests, "rb") as pipe:
        for script, *words in stages(pipe):
            sys.argv = [str(project_environment.PROJECT / script), *words]
            runpy.run_path(sys.argv[0], run_name="__main__")
            sys.stdout.flush()
            os.write(results, b"0\n")
    code = loop.wait()
    return code if code >= 0 else 128 - code


def stages(pipe: BinaryIO) -> Iterator[list[str]]:
    """The stages that the loop asks for, each a script and its arguments.

    A request is the number of its words and the words, each ended by a NUL.
    """
    words = iter(lambda: word(pipe), None)
    while count := int(next(words)):
        yield [next(words) for _ in range(count)]


def word(pipe: BinaryIO) -> str:
    return os.fsdecode(b"".join(iter(lambda: pipe.read(1), b"\0")))


if __name__ == "__main__":
    with reporting_errors():
        sys.exit(run_loop(sys.argv[1], sys.argv[2:]))
