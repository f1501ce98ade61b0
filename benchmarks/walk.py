"""Count the files that a reader enters on the way from the loop of ./learn_tictactoe.sh to its first fitted batch.

python benchmarks/walk.py
python benchmarks/walk.py files=true      # also each file: its calls, how often it is entered, and from where upwards

It runs the loop with few matches in this process until the first batch of level 1 is fitted. What is counted:

- call: a function of the project begins, called by another function of the project, perhaps through a library. What
  imports run is left out, and so is a generator that only continues.
- entry: a call from another file. A file is on the way if it is entered.
- up: an entry of a file whose package is above that of its caller in the list of packages in pyproject.toml.

Packages from `executors` down the list answer a question (what are the legal actions, which random number), and a
reader of the way need not open them: their files are counted by themselves.
"""

import project_environment

import os
import sys
import tempfile
import tomllib
from collections import Counter
from functools import cache
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any

from torch import Tensor

from selfplay.cli.entry import reporting_errors
from selfplay.errors import SettingError

PROJECT = project_environment.PROJECT
SCRIPT = PROJECT / "learn_tictactoe.sh"
SETTINGS = ["levels=1", "matches=500"]
IMPORTING = "<frozen importlib._bootstrap>"
"""The file name of Python's frames while a module is loaded."""
ANSWERING = "executors"
"""The highest package of those that only answer a question."""


class Arrived(BaseException):
    """The first batch is fitted."""


def packages() -> list[str]:
    """The packages of the library, top to bottom."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["id"] == "packages")
    return [name.strip() for layer in layers for name in layer.split("|")]


PACKAGES = packages()


@cache
def place_of(file_name: str) -> str:
    """The path of a file of the project below its folder; empty for other files."""
    if file_name.startswith("<"):
        return ""
    path = Path(os.path.realpath(file_name))
    is_ours = path.is_relative_to(PROJECT) and ".venv" not in path.parts and path != Path(__file__).resolve()
    return str(path.relative_to(PROJECT)) if is_ours else ""


@cache
def height(place: str) -> int:
    """The number of the package of a file, from the bottom; the scripts are above all packages."""
    folder, *below = place.removesuffix(".py").split("/")
    name = below[0] if folder == "selfplay" and below else folder
    return len(PACKAGES) - PACKAGES.index(name) if name in PACKAGES else len(PACKAGES) + 1


class Walk:
    """The calls on the way, by file, and the entries, by file of the caller and file."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.entries: Counter[tuple[str, str]] = Counter()

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call; a profile function, see `sys.setprofile`."""
        code = frame.f_code
        place = place_of(code.co_filename) if event == "call" else ""
        if not place or code.co_name == "<module>" or (code.co_flags & CO_GENERATOR and frame.f_lasti > 4):
            return
        callers, outer = [], frame.f_back
        while outer is not None and outer.f_code.co_filename != IMPORTING:
            callers.append(place_of(outer.f_code.co_filename))
            outer = outer.f_back
        before = next(filter(None, callers), "")
        if outer is None and before:
            self.calls[place] += 1
            if before != place:
                self.entries[before, place] += 1

    def report(self, of_each_file: bool) -> str:
        """The figures, as text."""
        lines = []
        bottom = height(f"selfplay/{ANSWERING}")
        for what, is_of in (
            ("on the way", lambda place: height(place) > bottom),
            ("that answer questions", lambda place: height(place) <= bottom),
        ):
            entered = Counter[str]()
            for (_, place), count in self.entries.items():
                entered[place] += count if is_of(place) else 0
            files = sorted((place for place in +entered), key=lambda place: (-height(place), place))
            calls = sum(self.calls[place] for place in files)
            ups = {pair: count for pair, count in self.entries.items() if height(pair[0]) < height(pair[1])}
            up = sum(count for (_, place), count in ups.items() if is_of(place))
            lines.append(
                f"{len(files)} files {what}: {entered.total():,} entries, {up:,} of them up, and {calls:,} calls"
            )
            for place in files if of_each_file else ():
                above = ", ".join(f"{before} ({count})" for (before, after), count in ups.items() if after == place)
                lines.append(
                    f"  {self.calls[place]:7,} {entered[place]:6,}  {place}{f'  up from {above}' * bool(above)}"
                )
        return "\n".join(lines)


def walk() -> Walk:
    """Run the loop until the first batch of level 1 is fitted."""
    sys.path.insert(0, str(PROJECT / "shell"))
    from run_loop import run_loop

    from selfplay.training.fitting import BatchTraining

    fit_batch = BatchTraining._follow

    def arrive(self: BatchTraining, loss: Tensor) -> None:
        fit_batch(self, loss)
        raise Arrived

    way, BatchTraining._follow = Walk(), arrive  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        sys.setprofile(way.watch)
        try:
            run_loop(str(SCRIPT), [*SETTINGS, f"run_dir={folder}/run"])
        except Arrived:
            pass
        finally:
            sys.setprofile(None)
    return way


if __name__ == "__main__":
    with reporting_errors():
        if (given := set(sys.argv[1:])) - {"files=true"}:
            raise SettingError(f"{' '.join(sorted(given))}: only files=true can be set")
        print(walk().report(bool(given)))
        sys.stdout.flush()
        # The loop waits for the stage.
        os._exit(0)
