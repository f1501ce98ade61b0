"""Figures have the same style everywhere, and drawing them leaves the style of the caller as it is."""

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from selfplay.figures.figure_files import write_figures
from selfplay.figures.style import LINES, single_figure, source_of
from selfplay.playing.analysis import analyse
from selfplay.registry import Registry
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run, compose_settings

OWN_STYLE = {"font.size": 30.0, "axes.facecolor": "red", "savefig.facecolor": "green", "lines.linewidth": 9.0}


def a_line() -> Figure:
    figure, axes = single_figure("title", "x", "y")
    axes.plot([1, 2, 3])
    return figure


def figures_of_a_line(name: str) -> dict[str, Figure]:
    return {f"{name}.png": a_line()}


def write_a_line(folder: Path) -> None:
    figures = Registry[Callable[[str], dict[str, Figure]]]("figure", {"line": f"{__name__}:figures_of_a_line"})
    write_figures(figures, "line", folder)


def write_game_tree(folder: Path) -> None:
    analyse(
        Run.of(
            compose_settings_of(
                AnalysisSettings,
                "analysis",
                ["game_tree=article", "searches=[alpha_beta]", f"picture.file={folder}/tree.png"],
            )
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


@pytest.mark.parametrize(
    ("overrides", "changed"),
    [
        (
            ["recipe=article", "levels=17", "matches=30000", "threads=2", "executor=process", "dataset.format=parquet"],
            "",
        ),
        (["matches=5000", "levels=3", "seed=0"], ", levels=3, matches=5000"),
        (
            ["architecture.hidden_sizes=[16]", "learner.epsilons=[0.5]"],
            ", architecture.hidden_sizes=[16], learner.epsilons=[0.5]",
        ),
    ],
)
def test_the_source_names_the_settings_that_differ_from_the_recipe(overrides: list[str], changed: str) -> None:
    settings = compose_settings([*overrides, "run_dir=elsewhere"])
    assert source_of("Othello", settings) == f"Othello, recipe={settings.recipe}, seed=0{changed}"


def test_numbers_on_axes_have_commas() -> None:
    figure, axes = single_figure("title", "x", "y")
    axes.plot([0, 4000], [-2000, 2e6])
    figure.draw_without_rendering()
    assert axes.yaxis.get_offset_text().get_text() == ""
    assert {"1,000", "4,000"} <= {text.get_text() for text in axes.get_xticklabels()}
    assert {"0", "1,000,000"} <= {text.get_text() for text in axes.get_yticklabels()}


COLOUR_BLIND = {
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}
"""What is seen of a colour in linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1."""


@pytest.mark.parametrize("kind", COLOUR_BLIND)
def test_colours_of_lines_differ_for_people_with_red_green_blindness(kind: str) -> None:
    linear = np.array([to_rgb(colour) for colour in LINES]) ** 2.2
    seen = np.clip(linear @ np.array(COLOUR_BLIND[kind]).T, 0, 1) ** (1 / 2.2)
    distances = np.linalg.norm(seen[:, None] - seen[None], axis=2)[np.triu_indices(len(seen), 1)]
    assert distances.min() > 0.25
