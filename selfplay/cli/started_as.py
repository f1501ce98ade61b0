"""How the user started a program: as `selfplay PROGRAM`, or by its script."""

import re
import sys

from selfplay.settings.command_lines import COMMAND, SCRIPTS, command_line, is_run_by_command, python

START_OF_COMMAND = re.compile(rf"(?P<by_torchrun>-m )?\b{COMMAND} (?P<program>{'|'.join(SCRIPTS)})(?![\w-])")


def started_as(program: str) -> str:
    """The words with which the user started this program: `selfplay learn` or `python train/learn.py`."""
    return f"{COMMAND} {program}" if is_run_by_command() else f"{python()} {sys.argv[0]}"


def described_for(program: str, docstring: str) -> str:
    """The docstring of a program, with its examples as the user has to write them after having started it like this."""

    def as_written(found: "re.Match[str]") -> str:
        if is_run_by_command():
            return found[0]
        command = started_as(program) if found["program"] == program else command_line(found["program"])
        return command.removeprefix(f"{python()} ") if found["by_torchrun"] else command

    return START_OF_COMMAND.sub(as_written, docstring.strip())
