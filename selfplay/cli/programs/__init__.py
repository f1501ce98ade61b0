"""The programs, one module for each subject, whose NAME_program is what `selfplay NAME` runs.

The docstring of a program's function begins the text of `--help`; its first line describes it in `selfplay --help`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.cli.command import Program

SUBJECTS = {
    "learning": "Learn and prove",
    "playing": "Play",
    "analysis": "Analyse a position",
    "classical": "Classical learners",
    "tools": "Tools",
}
"""The modules, and what `selfplay --help` calls them."""

NAMES = {
    "learning": ("learn", "generate", "train", "compare", "plot", "compare-runs", "prove", "correct"),
    "playing": ("play", "web", "gtp", "gomocup", "nboard", "uci", "play-matches", "tournament"),
    "analysis": ("solve", "analyse"),
    "classical": (
        *("train-tabular", "compete", "play-experience", "draw-experience", "export-experience", "import-experience"),
    ),
    "tools": ("check-game", "export-evaluation", "export-onnx", "export-page", "fit-probcut"),
}
"""The names of the programs of each module, so that listing them imports none."""

MODULES = {name: module for module, names in NAMES.items() for name in names}
"""The module of each program."""

RESUMED = (*NAMES["learning"], "train-tabular", "tournament")
"""The programs that continue, if they are run again, what a signal has ended."""


def program_named(name: str) -> "Program[Any]":
    """The program that `selfplay NAME` runs; imports its module."""
    program: Program[Any] = getattr(import_module(f"{__name__}.{MODULES[name]}"), f"{name.replace('-', '_')}_program")
    return program
