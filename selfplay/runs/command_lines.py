"""The commands that messages tell a user to run."""

import os
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from selfplay.files import resolved
from selfplay.installation import IS_CHECKOUT
from selfplay.runs.folders import CONFIG_FOLDER, PROJECT_FOLDER, RUNS_FOLDER

COMMAND = "selfplay"
"""The command that the package installs; its first argument is the name of a program."""

DEFAULT_GAME = "tictactoe"
"""The game of all programs but those of OTHER_GAMES, unless another is named."""

OTHER_GAMES = (
    *("solve", "analyse", "gtp", "gomocup", "nboard", "uci", "export-evaluation", "fit-probcut", "prove", "correct"),
)
"""The programs that have another game, unless one is named."""

SCRIPTS = {"play": "play/console.py", "web": "play/web.py"}
"""The scripts of a checkout that are named in place of a program."""


def executable(name: str) -> str:
    """How to start a program of this Python environment from the current folder: `selfplay`, or `.venv/bin/selfplay`.

    The path is needed for the project's own environment, because the user's shell has not activated it.
    """
    own = PROJECT_FOLDER / ".venv"
    return shlex.quote(os.path.relpath(own / "bin" / name)) if Path(sys.prefix) == own else name


def command_line(program: str) -> str:
    """The command that runs a program from the current folder, such as `selfplay learn`."""
    return f"{executable(COMMAND)} {program}"


def with_command_lines(docstring: str) -> str:
    """The docstring of a program. Its examples, the lines that start with `selfplay`, are changed to what the user
    types."""
    return docstring.strip().replace(f"\n{COMMAND} ", f"\n{executable(COMMAND)} ")


def command_for(program: str, game: str, run_dir: str | Path, *settings: str, modules: Iterable[str] = ()) -> str:
    """The command that runs a program on a run from the current folder, complete and quoted for a shell.

    Settings that have their defaults are left out. In a checkout, a script is named in place of the program if there is
    one.

    Args:
        game: a name with which `make_game` makes the game of the run.
        settings: further settings, as name=value.
        modules: the modules that the files of the run name, besides that of the game.
    """
    words = [] if game == DEFAULT_GAME and program not in OTHER_GAMES else [f"game={game}"]
    start = command_line(program)
    if IS_CHECKOUT and program in SCRIPTS:
        start = f"{executable(Path(sys.executable).name)} {_path_of(SCRIPTS[program])}"
    elif IS_CHECKOUT and program == "learn" and (PROJECT_FOLDER / f"learn_{game}.sh").exists():
        start, words = _path_of(f"learn_{game}.sh"), []
    if resolved(Path(run_dir)) != RUNS_FOLDER / game:
        words.append(f"run_dir={run_dir}")
    words += settings
    # The module of the game is named with the game.
    if named := sorted({*modules} - {game.partition(":")[0]}):
        words.append(f"modules=[{','.join(named)}]")
    return " ".join([start, *map(shlex.quote, words)])


def _path_of(script: str) -> str:
    """A script of the checkout from the current folder, with a folder, because the shell does not look in this one."""
    folder, _, name = str(PROJECT_FOLDER / script).rpartition("/")
    return shlex.quote(f"{os.path.relpath(folder)}/{name}")


COMMAND_IN_RECIPE = re.compile(r"^#   selfplay learn (.*(?:\n#     .*)*)", re.MULTILINE)
"""In the comment of a recipe, the command that must come before it, over several lines."""


def command_before(recipe: str, file: str) -> str:
    """The command that makes this file, with which a recipe begins; empty if the recipe does not name it."""
    path = CONFIG_FOLDER / "recipe" / f"{recipe}.yaml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    command = COMMAND_IN_RECIPE.search(text) if file in text else None
    return f"{command_line('learn')} {' '.join(command[1].replace('#', '').split())}" if command else ""
