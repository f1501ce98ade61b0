"""The commands that messages tell a user to run: the scripts of a checkout, or the command `selfplay`."""

import sys
from pathlib import Path

from selfplay.settings.folders import IS_CHECKOUT

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
}
"""The script of each program that has one, in a checkout."""


def is_run_by_command() -> bool:
    """Whether this process was started as `selfplay PROGRAM` and not by a script."""
    started = Path(sys.argv[0])
    return started.stem == COMMAND or started.parts[-2:] == (COMMAND, "__main__.py")


def uses_scripts() -> bool:
    """Whether messages name scripts: in a checkout, unless the user has started the command."""
    return IS_CHECKOUT and not is_run_by_command()


def command_line(program: str) -> str:
    """The command that runs a program, such as `python train/learn.py` or `selfplay learn`."""
    return f"python {SCRIPTS[program]}" if program in SCRIPTS and uses_scripts() else f"{COMMAND} {program}"
