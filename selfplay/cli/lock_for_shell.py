"""Hold a run's lock for the shell script whose open file SELFPLAY_LOCK_FD names.

python -m selfplay.cli.lock_for_shell RUN_DIR

Exits with a one-line error if another process holds it.
"""

import sys
from pathlib import Path

from selfplay.cli.command import run_reporting_errors
from selfplay.runs.run_folder import RunFolder


def lock_for_shell(run_dir: str) -> None:
    """Lock the run for the shell. Raises RunLockedError, StageError."""
    with RunFolder(Path(run_dir)).lock():
        pass


if __name__ == "__main__":
    run_reporting_errors(lambda: lock_for_shell(sys.argv[1]))
