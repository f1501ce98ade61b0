"""The files of the user that no test may change: those of this checkout, and what lies in the home folder."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def files_of_user() -> dict[Path, object]:
    """Size and time of every file in the checkout, and the names in the home folder.

    Folders of tools, such as .venv, __pycache__ and ~/.cache, are left out.
    """
    found: dict[Path, object] = dict.fromkeys(path for path in Path.home().iterdir() if path.name[0] != ".")
    for folder, folders, names in os.walk(PROJECT):
        folders[:] = [name for name in folders if not (name.startswith((".", "__pycache__")) or name.endswith("-info"))]
        for path in (Path(folder, name) for name in names if not name.startswith(".")):
            status = path.lstat()
            found[path] = status.st_size, status.st_mtime_ns
    return found
