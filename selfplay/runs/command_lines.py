"""The commands that messages tell a user to run."""

import os
import shlex
import sys
from pathlib import Path

from selfplay.installation import IS_CHECKOUT
from selfplay.runs.folders import PROJECT_FOLDER, RUNS_FOLDER

COMMAND = "selfplay"
"""The command that the package installs; its first argument is the name of a program."""

DEFAULT_GAME = "tictactoe"
"""The game of learn, play, web and train-tabular, unless another is named."""


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


def words_of_run(game: str, run_dir: str | Path) -> list[str]:
    """The words of a command line, quoted for a shell, that select a game and the folder of its run.

    Defaults are left out. This is for learn, play, web and train-tabular, whose default game is DEFAULT_GAME.
    Other programs may have Othello as their default.
    """
    words = [] if game == DEFAULT_GAME else [shlex.quote(f"game={game}")]
    return [*words, *_words_of_folder(game, run_dir)]


def learn_command(game: str, run_dir: str | Path) -> str:
    """The command that trains levels of a game in this folder: the game's own script if it has one."""
    script = PROJECT_FOLDER / f"learn_{game}.sh"
    if IS_CHECKOUT and script.exists():
        # With ./ because the shell does not look for programs in the current folder.
        path = f"{os.path.relpath(script.parent)}/{script.name}"
        return " ".join([shlex.quote(path), *_words_of_folder(game, run_dir)])
    return " ".join([command_line("learn"), *words_of_run(game, run_dir)])


def _words_of_folder(game: str, run_dir: str | Path) -> list[str]:
    is_default = Path(run_dir).resolve() == RUNS_FOLDER / game
    return [] if is_default else [shlex.quote(f"run_dir={run_dir}")]
