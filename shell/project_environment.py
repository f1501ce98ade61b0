"""Importing this restarts a script with the Python of the project's own .venv if the present one lacks the packages.

The scripts import it before everything else, from a link in their own folder, so that they run without an activated
environment. Up to that point it needs no packages, and an older Python can run it too. Afterwards SIGTERM is handled as
Ctrl-C is, while the slower imports of the script still run.
"""

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

NEEDED = ("selfplay", "hydra", "numba", "torch")
PROJECT = Path(__file__).resolve().parents[1]
PYTHON = PROJECT / ".venv" / "bin" / "python"


def _has_packages():
    return sys.version_info >= (3, 11) and all(find_spec(name) for name in NEEDED)


def _restart():
    """Replace this process by one of the project's own Python, with the same arguments.

    Returns if it already is that one. Raises OSError if there is none.
    """
    # A Python in the same folder is already that one; it would restart itself again and again.
    if not PYTHON.parent.samefile(Path(sys.executable).parent):
        os.execv(str(PYTHON), [str(PYTHON), *getattr(sys, "orig_argv", ["", *sys.argv])[1:]])


if not _has_packages():
    with suppress(OSError):
        _restart()
    setup = quote(os.path.relpath(str(PROJECT / "shell" / "environment.sh")))
    sys.exit(f"error: {sys.executable} lacks packages of this project; run `bash {setup}` once to install them")

# Only here, because it needs the packages.
from selfplay.cli.entry import handle_signals  # noqa: E402

handle_signals()
