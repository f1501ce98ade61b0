"""Draws the figures of docs/, each by its name.

    python docs/figures.py                          # all figures; the pictures of the page need Chromium
    python docs/figures.py learning_curves          # docs/learning_curves.png
    python docs/figures.py --measure learning_curves    # measures its data first

The data are in docs/data and selfplay/pretrained, so that drawing takes seconds; FIGURES has the commands that measure
those of docs/data again. Of strength_by_time.csv only the figure was left, from which its numbers were read: the
minutes are exact to 0.1, the scores of Othello to 0.001.
"""

import argparse
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from selfplay.agents.checkpoints import load_checkpoint
from selfplay.agents.pretrained import PRETRAINED_FOLDER, pretrained_agents
from selfplay.cli.entry import reporting_errors
from selfplay.errors import StageError
from selfplay.figures.comparison import exact_figures, mistakes, ratings, versus_random, wins_minus_losses
from selfplay.figures.losses import loss_curves
from selfplay.figures.square_weights import square_weight_maps
from selfplay.figures.style import (
    BLUE,
    DARK,
    GREEN,
    LINES,
    ORANGE,
    PURPLE,
    RED,
    decorate,
    default_style,
    empty_figure,
    mark_start,
    save_figure,
    write_source,
)
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.grading.mistakes import ALL_GROUPS
from selfplay.grading.proof import Grader
from selfplay.grading.solved_positions import MoveQuality, PositionGrade
from selfplay.playing.analysis import analyse
from selfplay.runs.finished_runs import read_level_table
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run
from selfplay.training.epochs import read_epochs

DOCS = Path(__file__).resolve().parent
DATA = DOCS / "data"


def kept_run(name: str) -> RunFolder:
    """The tables of a run, which are kept without its agents."""
    return RunFolder(DATA / name)


def of_pretrained(game: str) -> Path:
    return PRETRAINED_FOLDER / game / "comparison"


def tictactoe_exact() -> Figure:
    ceiling = sum(Grader(positions_of("tictactoe")).best_versus_random(never_lose=True)) / 2
    return exact_figures(read_level_table(kept_run("tictactoe").comparison), ceiling)


def article_levels() -> pd.DataFrame:
    return read_level_table(kept_run("article").comparison)


def article_losses() -> Figure:
    run = kept_run("article")
    return loss_curves({level: read_epochs(run.epoch_loss(level)) for level in run.levels_with("epoch_loss.csv")})


def ratings_of_pretrained(game: str) -> Figure:
    references = pd.read_csv(of_pretrained(game) / "references.csv").set_index("reference")["rating"]
    return ratings(read_level_table(of_pretrained(game) / "levels.csv"), dict(references))


def connect_four_mistakes() -> Figure:
    table = pd.read_csv(of_pretrained("connect_four") / "mistakes.csv")
    grades = dict[str, dict[str, MoveQuality]]()
    for row in table.itertuples(index=False):
        quality = MoveQuality(row.positions, row.mistake_rate, row.perfect_rate, row.points_lost)
        grades.setdefault(row.player, {})[row.group] = quality
    level_of = {row.player: int(row.level) for row in table.dropna(subset="level").itertuples(index=False)}
    levels = {
        level: PositionGrade(grades[player][ALL_GROUPS], {k: v for k, v in grades[player].items() if k != ALL_GROUPS})
        for player, level in level_of.items()
    }
    return mistakes(levels, {name: grades[name][ALL_GROUPS].mistakes for name in grades if name not in level_of})


def othello_square_weights() -> Figure:
    game, agent = make_game("othello"), pretrained_agents()["othello"]
    network, level = load_checkpoint(agent, game).network, int(agent.parent.name.partition("_")[2])
    return square_weight_maps(network.square_weights(), level, game.presentation.column_names)


LEARNERS = {
    "backward_value": BLUE,
    "temporal_difference": ORANGE,
    "experience, absolute backup": RED,
    "experience, minimax backup": PURPLE,
    "levels of recipe=default": GREEN,
}


def learning_curves() -> Figure:
    """Thin lines for the seeds of a learner, a thick line for their median."""
    table = pd.read_csv(DATA / "learning_curves.csv")
    figure = empty_figure(12, 5.8)
    left, right = figure.subplots(1, 2)
    decorate(left, "Exact probability of losing to the random player", "matches played", "probability")
    decorate(right, "Lost lines of play, every reply tried", "matches played", "lines in both seats")
    for learner, colour in LEARNERS.items():
        seeds = [points for _, points in table[table["learner"] == learner].groupby("seed")]
        label = f"{learner}, median of {len(seeds)} seeds" if len(seeds) > 1 else learner
        for axes, column in ((left, "loss"), (right, "lost_lines")):
            _draw_learner(axes, seeds, column, colour, label)
    left.set_yscale("symlog", linthresh=1e-3, linscale=0.5)
    left.set_yticks([0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3])
    right.set_yscale("symlog", linthresh=1, linscale=0.5)
    right.set_yticks([0, 1, 10, 100, 1000, 10_000, 100_000])
    left.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks([10**power for power in range(2, 7)])
        axes.minorticks_off()
        axes.margins(y=0.03)
    right.yaxis.set_major_formatter(whole := FuncFormatter(lambda number, _: f"{number:,.0f}"))
    for axes in (left, right):
        axes.xaxis.set_major_formatter(whole)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def _draw_learner(axes: Axes, seeds: list[pd.DataFrame], column: str, colour: str, label: str) -> None:
    matches = seeds[0]["matches"]
    if len(seeds) > 1:
        for points in seeds:
            axes.plot(matches, points[column], color=colour, linewidth=0.8, alpha=0.45)
    middle = [median(of_seeds) for of_seeds in zip(*(points[column] for points in seeds), strict=True)]
    axes.plot(matches, middle, LINES[colour], color=colour, linewidth=2.2, markersize=5, label=label)


TITLES = {
    "connect_four": "Connect Four: score moving first against perfect play",
    "othello": "Othello, four plies ahead: score against level 11",
}


def strength_by_time() -> Figure:
    """A panel for each game; a level without matches is the opponent, whose score would be that against itself."""
    table = pd.read_csv(DATA / "strength_by_time.csv")
    figure = empty_figure(12, 5)
    for axes, (game, title) in zip(figure.subplots(1, 2), TITLES.items(), strict=True):
        decorate(axes, title, "minutes of processor time", "score")
        of_game = table[table["game"] == game]
        for (curve, points), colour in zip(of_game.groupby("curve", sort=False), LINES, strict=False):
            played = points.dropna()
            axes.plot(played["minutes"], played["score"], LINES[colour], color=colour, markersize=4, label=curve)
            for opponent in points[points["score"].isna()].itertuples():
                label = f"level {opponent.level} itself, after {opponent.minutes:.0f} minutes"
                axes.axhline(0.5, color=DARK, linestyle=":", linewidth=1.2, label=label)
        axes.set_xlim(0)
        mark_start(axes)
        axes.legend(loc="lower right", frameon=False)
    return figure


class Drawn(NamedTuple):
    """A figure of docs/."""

    draw: Callable[[], Figure]
    source: str = ""
    """What it shows: the game, recipe and seed."""
    measure: str = ""
    """The commands that measure its data again, in the folder of the project; empty if they come with the program."""


def measuring(name: str, recipe: str) -> str:
    """Learn a run, unless it is there, and keep its tables."""
    return (
        f"selfplay learn {recipe} run_dir=outputs/{name} && mkdir -p docs/data/{name} && cd outputs/{name} && "
        f"cp --parents comparison/levels.csv level_*/epoch_loss.csv ../../docs/data/{name}"
    )


TICTACTOE, ARTICLE = measuring("tictactoe", "recipe=default"), measuring("article", "recipe=article")
OF_ARTICLE = "Tic-tac-toe, recipe=article, seed=0"
OF_CONNECT_FOUR = "Connect Four, recipe=connect_four, seed=0"
OF_OTHELLO = "Othello, recipe=othello, seed=0"
FIGURES = {
    "tictactoe_exact": Drawn(tictactoe_exact, "Tic-tac-toe, recipe=default, seed=0", TICTACTOE),
    "article_losses": Drawn(article_losses, OF_ARTICLE, ARTICLE),
    "article_versus_random": Drawn(lambda: versus_random(article_levels()), OF_ARTICLE, ARTICLE),
    "article_wins_minus_losses": Drawn(lambda: wins_minus_losses(article_levels()), OF_ARTICLE, ARTICLE),
    "connect_four_mistakes": Drawn(connect_four_mistakes, OF_CONNECT_FOUR),
    "connect_four_ratings": Drawn(lambda: ratings_of_pretrained("connect_four"), OF_CONNECT_FOUR),
    "othello_ratings": Drawn(lambda: ratings_of_pretrained("othello"), OF_OTHELLO),
    "othello_square_weights": Drawn(othello_square_weights, OF_OTHELLO),
    "learning_curves": Drawn(learning_curves, measure="python benchmarks/learning_curves.py"),
    "strength_by_time": Drawn(
        strength_by_time,
        measure="NUMBA_NUM_THREADS=1 python benchmarks/strength_by_time.py --table docs/data/strength_by_time.csv",
    ),
}
TREE = "othello_game_tree"
"""Drawn by `selfplay analyse game_tree=article`."""
PAGE = "page"
"""All of page_*.png."""
PAGE_PICTURES = (
    "selfplay learn run_dir=outputs/tictactoe && selfplay learn recipe=article run_dir=outputs/article && "
    "python benchmarks/page_pictures.py"
)


@default_style()
def draw(name: str, folder: Path = DOCS) -> None:
    """Draw a figure of FIGURES, or TREE, into a folder."""
    file = folder / f"{name}.png"
    if name == TREE:
        analyse(
            Run.of(compose_settings_of(AnalysisSettings, "analysis", ["game_tree=article", f"picture.file={file}"]))
        )
        return
    figure = FIGURES[name].draw()
    write_source(figure, FIGURES[name].source)
    save_figure(figure, file)


def run(command: str) -> None:
    """Run a command of the shell in the folder of the project. Raises StageError if it fails."""
    print(command, flush=True)
    if subprocess.run(command, shell=True, cwd=DOCS.parent, check=False).returncode:
        raise StageError(f"has failed: {command}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*FIGURES, TREE, PAGE]
    parser.add_argument("names", nargs="*", choices=[*names, []], metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--measure", action="store_true", help="measure the data first, in seconds to two hours")
    options = parser.parse_args()
    chosen = options.names or names
    for command in dict.fromkeys(FIGURES[name].measure for name in chosen if options.measure and name in FIGURES):
        if command:
            run(command)
    for name in chosen:
        run(PAGE_PICTURES) if name == PAGE else draw(name)


if __name__ == "__main__":
    with reporting_errors():
        main()
