"""Figures have the same style everywhere, and drawing them leaves the style of the caller as it is."""

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from selfplay.figures.experience_graph import picture_of, reachable_boards
from selfplay.figures.figure_files import write_figures
from selfplay.figures.style import save_figure, single_figure, source_of, write_source
from selfplay.figures.tournament import score_map
from selfplay.playing.analysis import analyse
from selfplay.registry import Registry
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import compose_settings
from tests.support.experience_tools import learn, new_store, random_match

OWN_STYLE = {"font.size": 30.0, "axes.facecolor": "red", "savefig.facecolor": "green", "lines.linewidth": 9.0}


def a_line() -> Figure:
    figure, axes = single_figure("title", "x", "y")
    axes.plot([1, 2, 3])
    return figure


def write_a_line(folder: Path) -> None:
    figures = Registry[Callable[[str], dict[str, Figure]]]("figure", {})
    figures.register("line", lambda name: {f"{name}.png": a_line()})
    write_figures(figures, "line", folder)


def write_experience(folder: Path) -> None:
    folder.mkdir(parents=True)
    store = new_store(folder)
    learn(store, random_match(0))
    save_figure(picture_of(reachable_boards(store.boards(), 0, 2, [2]), 0, (3, 3)), folder / "experience.png")
    store.close()
    store.path.unlink()


def write_game_tree(folder: Path) -> None:
    analyse(
        compose_settings_of(
            AnalysisSettings,
            "analysis",
            ["game_tree=article", "searches=[alpha_beta]", f"picture.file={folder}/tree.png"],
        )
    )


DRAWINGS = {
    "figures of a run": write_a_line,
    "game tree": write_game_tree,
}


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.png")}


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_style_of_the_caller_changes_no_figure_and_is_kept(tmp_path: Path, name: str) -> None:
    DRAWINGS[name](tmp_path / "plain")
    with matplotlib.rc_context(OWN_STYLE):
        DRAWINGS[name](tmp_path / "own")
        assert {key: matplotlib.rcParams[key] for key in OWN_STYLE} == OWN_STYLE
    assert bytes_in(tmp_path / "plain") == bytes_in(tmp_path / "own") != {}


def test_the_title_of_a_tournament_fits_its_figure_and_names_are_readable() -> None:
    figure = score_map(("random", "search:negascout?depth=2&evaluation=none"), np.eye(2))
    write_source(figure, "Othello, tournament, 1000 matches per pair")
    figure.draw_without_rendering()
    title = next(text for text in figure.texts if "Share of points" in text.get_text())
    assert title.get_window_extent().x1 <= figure.bbox.width
    names = {label.get_text() for label in figure.axes[0].get_xticklabels()}
    assert names == {"random", "negascout, 2 plies"}


def test_the_title_of_a_figure_says_what_it_shows() -> None:
    figure, _ = single_figure("A title", "x", "y")
    write_source(figure, "Connect Four, seed=3")
    assert figure.get_suptitle() == "Connect Four, seed=3"
    figure.suptitle("Weights of level 2")
    write_source(figure, "Othello")
    assert figure.get_suptitle() == "Othello\nWeights of level 2"


@pytest.mark.parametrize(
    ("overrides", "changed"),
    [
        (
            ["recipe=article", "levels=17", "matches=30000", "threads=2", "executor=process", "dataset.format=parquet"],
            "",
        ),
        (["matches=5000", "levels=3", "seed=0"], ", levels=3, matches=5000"),
        (["architecture.hidden_sizes=[16]", "epsilons=[0.5]"], ", architecture.hidden_sizes=[16], epsilons=[0.5]"),
    ],
)
def test_the_source_names_the_settings_that_differ_from_the_recipe(overrides: list[str], changed: str) -> None:
    settings = compose_settings([*overrides, "run_dir=elsewhere"])
    assert source_of("Othello", settings) == f"Othello, recipe={settings.recipe}, seed=0{changed}"
