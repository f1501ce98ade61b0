"""Train the agents that come with the program again, and compare the bytes.

    python benchmarks/pretrained.py connect_four
    python benchmarks/pretrained.py othello --run outputs/pretrained --replace

Each is the last level of a recipe: connect_four, and for Othello othello_large, to which ProbCut is fitted. The run
continues where it was interrupted. With --replace the new files take the place of those in selfplay/pretrained/.
"""

import project_environment

import argparse
import shutil
import sys
from pathlib import Path

from selfplay import compose_settings, learn_levels
from selfplay.cli.command import progress_bar
from selfplay.cli.main import reporting_errors
from selfplay.files import sha256
from selfplay.runs.manifest import Manifest
from selfplay.runs.pretrained import PRETRAINED_FOLDER, pretrained_agents
from selfplay.runs.run_folder import PROBCUT_FILE, RunFolder
from selfplay.settings.evaluation import ProbCutSettings
from selfplay.stages.search_files import fit_probcut

RECIPES = {"connect_four": "connect_four", "othello": "othello_large"}
"""By game."""
DEEPEST = {"othello": 10}
"""The depth to which ProbCut is fitted, in games in which it is."""


def trained(game: str, run: Path) -> Path:
    """The folder of the last level of the recipe."""
    settings = compose_settings([f"game={game}", f"recipe={RECIPES[game]}", f"run_dir={run}"])
    learn_levels(settings, progress_bar)
    if game in DEEPEST and not RunFolder(run).probcut(settings.levels).exists():
        fit_probcut(ProbCutSettings(str(run), settings.game, level=settings.levels, deepest=DEEPEST[game]))
    return RunFolder(run).level(settings.levels)


def agent_files(level: Path) -> list[Path]:
    """The weights of a level, and the parameters of ProbCut if they were fitted."""
    return [path for name in ("agent.safetensors", PROBCUT_FILE) if (path := level / name).exists()]


def digests(level: Path) -> dict[str, str]:
    """The SHA-256 of each file of an agent."""
    return {path.name: sha256(path) for path in agent_files(level)}


def replace(game: str, level: Path) -> None:
    """Copy the files of the agent and what its manifest says of its training into the package."""
    shutil.rmtree(PRETRAINED_FOLDER / game, ignore_errors=True)
    folder = PRETRAINED_FOLDER / game / level.name
    folder.mkdir(parents=True)
    for path in agent_files(level):
        shutil.copy(path, folder)
    training = Manifest(level).sections["training"]
    files = [name for name in training["files"] if (folder / name).exists()]
    Manifest(folder).record("training", training["settings"], training["counts"], files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", choices=RECIPES, metavar="GAME")
    parser.add_argument("--run", type=Path, default=Path("outputs/pretrained"), help="folder of the runs")
    parser.add_argument("--replace", action="store_true", help="replace the agent in the package")
    options = parser.parse_args()
    differ = []
    for game in options.games:
        level = trained(game, options.run / game)
        if options.replace:
            replace(game, level)
        shipped = pretrained_agents()[game].parent
        is_same = digests(level) == digests(shipped)
        print(f"{game}: {level.name}, {'the same bytes' if is_same else 'other bytes'}")
        differ += [] if is_same else [game]
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    with reporting_errors():
        main()
