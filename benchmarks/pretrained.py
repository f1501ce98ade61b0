"""Train the agents that come with the program again, and compare the bytes.

    python benchmarks/pretrained.py connect_four
    python benchmarks/pretrained.py othello --run outputs/pretrained --replace

Each is the last level of a recipe (RECIPES); that of Othello has ProbCut fitted to it. Other processors give other
bytes of recipes that begin with alphazero (numerics=native). Those of Go on 9x9 and 13x13 crossings (alphazero_go_9x9)
need several runs, and are not among them; that of 7x7 learned before observations of Go showed liberties, so another
agent takes its place. The run continues where it was interrupted. With --replace the new files take the place of those
in selfplay/pretrained/, and so do the small tables of the run, whose levels are compared first: the page shows them as
the story of the agent.
"""

import project_environment

import argparse
import shutil
import sys
from pathlib import Path

from selfplay import compose_settings, learn_levels
from selfplay.agents.pretrained import PRETRAINED_FOLDER
from selfplay.cli.entry import reporting_errors
from selfplay.files import sha256
from selfplay.progress import progress_bar
from selfplay.runs.manifest import RUN, Manifest
from selfplay.runs.run_folder import PROBCUT_FILE, RunFolder
from selfplay.settings.common import run_record
from selfplay.settings.evaluation import ProbCutSettings
from selfplay.settings.run import Settings
from selfplay.stages.compare import compare_and_report, is_compared
from selfplay.stages.learning_run import open_run
from selfplay.stages.search_files import fit_probcut

RECIPES = {
    "breakthrough": "breakthrough levels=4 matches=12000 learner.level_decay=0.8",
    "breakthrough_6x6": "breakthrough game.size=6",
    "breakthrough_8x8": "breakthrough game.size=8",
    "connect_four": "connect_four",
    "draughts": "draughts",
    "go_7x7": "alphazero_go",
    "gomoku": "alphazero_gomoku",
    "gomoku_other_sizes": "alphazero_gomoku_other_sizes",
    "hex": "alphazero_hex",
    "nine_mens_morris": "nine_mens_morris",
    "othello": "othello",
    "othello_6x6": "othello_6x6",
}
"""By the name of the game; with settings, if the recipe plays several boards."""
DEEPEST = {"othello": 10}
"""The depth to which ProbCut is fitted, in games in which it is."""


def trained(game: str, settings: Settings) -> Path:
    """The folder of the last level of the recipe."""
    run = Path(settings.run_dir)
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


def replace(game: str, level: Path, settings: Settings) -> None:
    """Copy the files of the agent, what its manifest says of its training, and the tables of its run."""
    shutil.rmtree(PRETRAINED_FOLDER / game, ignore_errors=True)
    folder = PRETRAINED_FOLDER / game / level.name
    folder.mkdir(parents=True)
    for path in agent_files(level):
        shutil.copy(path, folder)
    copy_tables(RunFolder(Path(settings.run_dir)), PRETRAINED_FOLDER / game)
    Manifest(PRETRAINED_FOLDER / game).record(RUN, run_record(settings), {}, [])
    training = Manifest(level).sections["training"]
    files = [name for name in training["files"] if (folder / name).exists()]
    Manifest(folder).record("training", training["settings"], training["counts"], files)


def copy_tables(run: RunFolder, into: Path) -> None:
    """Copy the losses of the levels of a run and the tables of its comparison."""
    losses = [run.epoch_loss(level) for level in run.trained_levels()]
    for path in (*losses, run.comparison, run.matches, run.mistakes, run.references, run.report):
        if path.exists():
            copy = into / path.relative_to(run.path)
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(path, copy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", choices=RECIPES, metavar="GAME")
    parser.add_argument("--run", type=Path, default=Path("outputs/pretrained"), help="folder of the runs")
    parser.add_argument("--replace", action="store_true", help="replace the agent in the package")
    options = parser.parse_args()
    differ = []
    for game in options.games:
        settings = compose_settings([*f"recipe={RECIPES[game]}".split(), f"run_dir={options.run / game}"])
        level = trained(game, settings)
        if options.replace:
            with open_run(settings, "compare") as run:
                if not is_compared(run):
                    compare_and_report(run, progress_bar)
            replace(game, level, settings)
        # Looked up after it was replaced.
        (shipped,) = (PRETRAINED_FOLDER / game).glob("level_*/agent.safetensors")
        is_same = digests(level) == digests(shipped.parent)
        print(f"{game}: {level.name}, {'the same bytes' if is_same else 'other bytes'}")
        differ += [] if is_same else [game]
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    with reporting_errors():
        main()
