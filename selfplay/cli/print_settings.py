"""Print the values of settings for the shell scripts, one per line.

python -m selfplay.cli.print_settings recipe=article seed=1 -- levels run_dir
"""

import sys
from collections.abc import Sequence

from selfplay.cli.arguments import overrides_first
from selfplay.cli.command import run_reporting_errors
from selfplay.errors import SettingError
from selfplay.runs.run_settings import composed_for_run
from selfplay.settings.run import require_whole_run


def print_settings(arguments: Sequence[str]) -> None:
    """Print the values of the settings that are named after `--`. Raises SettingError."""
    split = len(arguments) - 1 - list(reversed(arguments)).index("--")
    overrides = overrides_first(arguments[:split])
    if foreign := [override for override in overrides if override.startswith("-")]:
        raise SettingError(f"{foreign[0]}: this is a flag of the scripts; use only settings here")
    settings = composed_for_run(overrides)
    require_whole_run(settings)
    for name in arguments[split + 1 :]:
        sys.stdout.write(f"{getattr(settings, name)}\n")


if __name__ == "__main__":
    run_reporting_errors(lambda: print_settings(sys.argv[1:]))
