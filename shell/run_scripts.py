"""Run scripts of the project one after the other in this process, so that the libraries are imported only once.

    printf '%s\n' "train/train_agent.py --level 1" "train/plot_losses.py" | python shell/run_scripts.py seed=3
    python shell/run_scripts.py --levels recipe=article    # only prints the number of levels in the settings

Standard input names a script on each line, with flags of its own; the arguments are passed to all of them. The first
script that fails ends the program with its exit code.
"""

import project_environment

import runpy
import shlex
import sys

from selfplay.cli.command import overrides_first
from selfplay.cli.main import reporting_errors
from selfplay.errors import SettingError
from selfplay.runs.manifest import composed_for_run


def print_levels(arguments: list[str]) -> None:
    overrides, flags = overrides_first(arguments)
    if flags:
        raise SettingError(f"{flags[0]}: the shell loop takes only settings; use train/learn.py {flags[0]}")
    print(composed_for_run(overrides).levels)


def run_scripts(arguments: list[str]) -> None:
    for line in sys.stdin:
        script, *flags = shlex.split(line)
        sys.argv = [str(project_environment.PROJECT / script), *arguments, *flags]
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    with reporting_errors():
        if sys.argv[1:2] == ["--levels"]:
            print_levels(sys.argv[2:])
        else:
            run_scripts(sys.argv[1:])
