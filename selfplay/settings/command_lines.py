"""The commands that messages tell a user to run: the scripts of a checkout, or the command `selfplay`."""

import sys
from pathlib import Path
from shutil import which

from selfplay.settings.common import GameSettings
from selfplay.settings.folders import IS_CHECKOUT, PROJECT_FOLDER

COMMAND = "selfplay"
"""The command that the package installs; its first argument is the name of a program."""

SCRIPTS = {
    "learn": "train/learn.py",
    "generate": "preprocessing/generate_positions_expectations.py",
    "train": "train/train_agent.py",
    "compare": "train/compare_levels.py",
    "plot": "train/plot_losses.py",
    "compare-runs": "train/compare_runs.py",
    "prove": "train/prove.py",
    "play": "play/console.py",
    "web": "play/web.py",
    "gtp": "play/gtp.py",
    "play-matches": "train/play_matches.py",
    "tournament": "train/tournament.py",
    "solve": "play/solve.py",
    "analyse": "play/analyse.py",
    "train-tabular": "train/train_tabular.py",
    "compete": "train/compete.py",
    "play-experience": "play/experience.py",
    "draw-experience": "train/draw_experience.py",
    "export-experience": "train/export_experience.py",
    "import-experience": "train/import_experience.py",
    "export-evaluation": "train/export_evaluation.py",
    "fit-probcut": "train/fit_probcut.py",
}
"""The script of each program that has one, in a checkout."""


def is_run_by_command() -> bool:
    """Whether this process was started as `selfplay PROGRAM` and not by a script."""
    started = Path(sys.argv[0])
    return started.stem == COMMAND or started.parts[-2:] == (COMMAND, "__main__.py")


def uses_scripts() -> bool:
    """Whether messages name scripts: in a checkout, unless the user has started the command."""
    return IS_CHECKOUT and not is_run_by_command()


def python() -> str:
    """The word that starts Python in the user's shell: python, or python3 where only that is on the PATH."""
    return "python3" if which("python") is None and which("python3") is not None else "python"


def command_line(program: str) -> str:
    """The command that runs a program, such as `python train/learn.py` or `selfplay learn`."""
    return f"{python()} {SCRIPTS[program]}" if program in SCRIPTS and uses_scripts() else f"{COMMAND} {program}"


def words_of_run(game: str, run_dir: str | Path) -> list[str]:
    """The words of a command line that select a game and the folder of its run, without those that are the default."""
    words = [] if game == GameSettings().name else [f"game={game}"]
    return [*words, *_words_of_folder(game, run_dir)]


def learn_command(game: str, run_dir: str | Path) -> str:
    """The command that trains levels of a game in this folder: the game's own script if it has one."""
    script = PROJECT_FOLDER / f"learn_{game}.sh"
    if uses_scripts() and script.exists():
        return " ".join([f"./{script.name}", *_words_of_folder(game, run_dir)])
    return " ".join([command_line("learn"), *words_of_run(game, run_dir)])


def _words_of_folder(game: str, run_dir: str | Path) -> list[str]:
    is_default = Path(run_dir).resolve() == PROJECT_FOLDER / "outputs" / game
    return [] if is_default else [f"run_dir={run_dir}"]
