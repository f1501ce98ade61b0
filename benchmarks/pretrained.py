"""Train the agents that come with the program again, and compare the bytes.

    python benchmarks/pretrained.py connect_four
    python benchmarks/pretrained.py othello --run outputs/pretrained --replace

Each is the last level of the recipe with the name of its game. The run continues where it was interrupted. With
--replace the new agent takes the place of the one in selfplay/pretrained/.
"""

import project_environment

import argparse
import shutil
import sys
from pathlib import Path

from selfplay import compose_settings, learn_levels
from selfplay.cli.command import progress_bar, run_reporting_errors
from selfplay.runs.manifest import Manifest
from selfplay.runs.pretrained import PRETRAINED_FOLDER, pretrained_agents
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import sha256

GAMES = ("connect_four", "othello")


def trained(game: str, run: Path) -> Path:
    """The folder of the last level of the game's recipe."""
    settings = compose_settings([f"game={game}", f"recipe={game}", f"run_dir={run}"])
    learn_levels(settings, progress_bar)
    return RunFolder(run).level(settings.levels)


def replace(game: str, level: Path) -> None:
    """Copy the agent and what its manifest says of its training into the package."""
    shutil.rmtree(PRETRAINED_FOLDER / game, ignore_errors=True)
    folder = PRETRAINED_FOLDER / game / level.name
    folder.mkdir(parents=True)
    shutil.copy(level / "agent.safetensors", folder)
    training = Manifest(level).sections["training"]
    files = [name for name in training["files"] if (folder / name).exists()]
    Manifest(folder).record("training", training["settings"], training["counts"], files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", choices=GAMES, metavar="GAME")
    parser.add_argument("--run", type=Path, default=Path("outputs/pretrained"), help="folder of the runs")
    parser.add_argument("--replace", action="store_true", help="replace the agent in the package")
    options = parser.parse_args()
    differ = []
    for game in options.games:
        level = trained(game, options.run / game)
        if options.replace:
            replace(game, level)
        digests = {sha256(level / "agent.safetensors"), sha256(pretrained_agents()[game].path)}
        print(f"{game}: {level.name}, {'the same bytes' if len(digests) == 1 else 'other bytes'}")
        differ += [game] if len(digests) > 1 else []
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    run_reporting_errors(main)
