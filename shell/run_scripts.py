"""Run scripts of the project one after the other in this process, so that the libraries are imported only once.

    printf '%s\n' "train/train_agent.py --level 1" "train/plot_losses.py" | python shell/run_scripts.py seed=3

Standard input names a script on each line, with flags of its own; the arguments are passed to all of them. The run's
lock is held from the first script to the last, so that no other process writes to the same folder in between. The
first script that fails ends the program with its exit code.
"""

import project_environment

import runpy
import shlex
import sys

from selfplay.cli.arguments import overrides_first
from selfplay.cli.command import run_reporting_errors
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.run_settings import composed_for_run


def run_scripts(arguments: list[str]) -> None:
    with RunFolder.of(composed_for_run(overrides_first(arguments))).lock(reentrant=True):
        for line in sys.stdin:
            script, *flags = shlex.split(line)
            sys.argv = [str(project_environment.PROJECT / script), *arguments, *flags]
            runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    run_reporting_errors(lambda: run_scripts(sys.argv[1:]))
