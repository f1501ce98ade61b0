"""The value of each position of a game with a number line of positions, level by level, with that of perfect play.

position_values.png and position_values.gif
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from selfplay.figures.figure_files import TrainedRun
from selfplay.figures.style import BLUE, GREEN, GREY, decorate, empty_figure, rendered, write_source
from selfplay.games import Game
from selfplay.games.position_graph import PositionGraph, enumerate_positions, perfect_values
from selfplay.players.value_net import evaluate_output
from selfplay.runs.levels import agent_of_level

MAX_PANELS = 8
MAX_TICKS = 12
COLOURS = {1.0: (GREEN, "won with perfect play"), 0.0: (GREY, "drawn"), -1.0: (BLUE, "lost with perfect play")}
"""By perfect value: the colour of a bar, and its text in the legend."""


def position_value_figures(run: TrainedRun) -> Mapping[str, Figure | list[Image.Image]]:
    """The picture and the animation; none for games whose positions do not lie on a line."""
    if run.game.presentation.position_line is None:
        return {}
    positions = position_values(run.folder.path, run.game, run.levels)
    return {
        "position_values.png": position_value_bars(positions),
        "position_values.gif": position_value_animation(positions, run.source),
    }


class ValuesByLevel(NamedTuple):
    """The values that L levels give to the P afterstates of a game, for the player who is not to move."""

    label: str
    places: NDArray[np.int64]
    """int64[P], ascending: the place of each afterstate on the line."""
    perfect: NDArray[np.float64]
    """float64[P] in {-1, 0, 1}: the return when both play perfectly from there."""
    levels: tuple[int, ...]
    values: NDArray[np.float32]
    """float32[L, P]: the values of each level's network; exact where the match is over."""


def position_values(run_dir: str | Path, game: Game, levels: Sequence[int]) -> ValuesByLevel:
    """The values that these levels of a run give to every afterstate of `game`.

    Raises GameTooLargeError if there are too many, and as `agent_of_level`.
    """
    line, graph = game.presentation.position_line, enumerate_positions(game)
    assert line is not None, "checked by `position_value_figures`"
    places = line.place(graph.state).numpy()
    afterstates = np.unique(graph.children[graph.legal])
    afterstates = afterstates[np.argsort(places[afterstates], kind="stable")]
    values = [_afterstate_values(run_dir, game, level, graph)[afterstates] for level in levels]
    perfect = -perfect_values(graph)[afterstates]
    return ValuesByLevel(line.label, places[afterstates], perfect, tuple(levels), np.stack(values))


def _afterstate_values(run_dir: str | Path, game: Game, level: int, graph: PositionGraph) -> NDArray[np.float32]:
    network = agent_of_level(run_dir, level, game).network
    values = evaluate_output(network, game.observe(graph.state)).value
    exact = torch.from_numpy(-graph.return_to_move).float()
    return torch.where(graph.state.terminated, exact, values).numpy()


def position_value_bars(positions: ValuesByLevel) -> Figure:
    """A panel for each of up to eight levels, with the first and the last."""
    count = len(positions.levels)
    shown = np.unique(np.linspace(0, count - 1, min(count, MAX_PANELS)).round().astype(int))
    columns = 1 if len(shown) <= 3 else 2
    rows = -(-len(shown) // columns)
    figure = empty_figure(8 * columns, 1 + 2.6 * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).reshape(-1)
    for axes, number in zip(panels, shown, strict=False):
        _draw_level(axes, positions, int(number))
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def position_value_animation(positions: ValuesByLevel, source: str = "") -> list[Image.Image]:
    """A frame for each level. `source`: what is shown, above the title."""
    figure = empty_figure(10, 4.7)
    write_source(figure, source)
    axes = figure.subplots()
    return list(_frames(figure, axes, positions))


def _frames(figure: Figure, axes: Axes, positions: ValuesByLevel) -> Iterator[Image.Image]:
    for number in range(len(positions.levels)):
        axes.clear()
        _draw_level(axes, positions, number)
        if number == 0:
            figure.legend(loc="outside lower center", ncols=4, frameon=False)
            # The layout is computed once, so that only the bars move from frame to frame.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        yield rendered(figure)


def _draw_level(axes: Axes, positions: ValuesByLevel, number: int) -> None:
    places, perfect, values = positions.places, positions.perfect, positions.values[number]
    title = f"Level {positions.levels[number]}"
    decorate(axes, title, f"{positions.label} that a player leaves to the other", "value to that player")
    for value, (colour, label) in COLOURS.items():
        where = perfect == value
        if where.any():
            axes.bar(places[where], values[where], width=0.8, color=colour, label=label)
    axes.scatter(places, perfect, s=14, marker="_", color="black", linewidths=1, label="perfect value", zorder=3)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlim(places.min() - 1, places.max() + 1)
    axes.set_ylim(-1.15, 1.15)
    winning = places[perfect == 1]
    if 0 < len(winning) <= MAX_TICKS:
        axes.set_xticks(winning)
