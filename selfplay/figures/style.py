"""The style of all figures, and writing them to files."""

import io
import logging
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from pandas import DataFrame
from PIL import Image

from selfplay.files import written_whole
from selfplay.named_players.names import readable_name
from selfplay.settings.recorded import changes_of_recipe
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)

DPI = 150
LINE_OF_TEXT = 0.045
"""The height of a small line of text, as a share of the height of the axes of a single figure."""
POINTS_OF_LINE = 15
"""The height of a line of a legend or a note."""
LETTERS_OF_TITLE, MOST_LINES_OF_SOURCE = 11, 3
"""The letters of a title in an inch of the width. With more lines, a figure would have no room for its axes."""
BLUE, ORANGE, GREEN, RED, PURPLE = "#0077bb", "#dd8420", "#0b6b4f", "#b02a10", "#42145f"
"""Colours that also differ for people with red-green blindness. Lines also differ in their markers or dashes."""
GREY, DARK = "#8b929c", "#374151"
LINES = {BLUE: "o-", ORANGE: "s--", GREEN: "^-.", RED: "D:", PURPLE: "v-", GREY: "P--"}
"""The marker and the dashes of the line of each colour, where several lines are in a panel."""


default_style = partial(style.context, "default")
"""A context or decorator that draws in Matplotlib's default style, and restores that of the caller afterwards.

So neither a file matplotlibrc nor the settings of a notebook change a figure.
"""


@default_style()
def save_figure(figure: Figure, path: Path) -> None:
    """Write `figure` as a PNG file, without date or version. Raises StageError if it cannot be written."""
    with written_whole(path) as beside:
        figure.savefig(beside, format="png", dpi=DPI, metadata={"Software": None})
    log.info("wrote %s", path)


def save_animation(frames: Sequence[Image.Image], path: Path) -> None:
    """Write a GIF file that repeats forever and shows its last frame three times as long as the others.

    Raises StageError if it cannot be written.
    """
    durations = [600] * (len(frames) - 1) + [1800]  # milliseconds
    with written_whole(path) as beside:
        frames[0].save(beside, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)
    log.info("wrote %s", path)


def source_of(title: str, settings: Settings) -> str:
    """What the figures of a run show: the title of the game, the recipe, the seed, and the settings changed in it."""
    changed = (f", {name}={value}" for name, value in changes_of_recipe(settings).items())
    return f"{title}, recipe={settings.recipe}, seed={settings.seed}{''.join(changed)}"


def write_source(figure: Figure, source: str) -> None:
    """Write the source of a figure (see `source_of`) above its titles, in at most MOST_LINES_OF_SOURCE lines."""
    if source:
        letters = int(LETTERS_OF_TITLE * figure.get_figwidth())
        lines = textwrap.wrap(source, letters, max_lines=MOST_LINES_OF_SOURCE, placeholder=" \N{HORIZONTAL ELLIPSIS}")
        title = "\n".join(filter(None, (*lines, figure.get_suptitle())))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=DARK)


@default_style()
def rendered(figure: Figure) -> Image.Image:
    """`figure` as an image of 256 colours, for use as a frame of an animation."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE)


def empty_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches, whose layout keeps texts apart and inside the figure."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))


class Thousands(ScalarFormatter):
    """Numbers on an axis, from 1,000 on with commas, as in all texts, and without a factor at the end of the axis."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self.set_scientific(False)

    def __call__(self, x: float, pos: int | None = None) -> str:
        text: str = super().__call__(x, pos)
        return f"{x:,.0f}".replace("-", "\N{MINUS SIGN}") if abs(x) >= 1000 else text


def decorate(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    """Set the title and the labels, and draw a light grid behind the data."""
    _write_title(axes, title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(Thousands())
    axes.margins(y=0.1)
    axes.spines[["top", "right"]].set_visible(False)


def mark_start(axes: Axes) -> None:
    """Write beside the y axis where it begins, unless that is at 0 or below."""
    low = axes.get_ylim()[0]
    if low > 0:
        axes.set_ylabel(f"{axes.get_ylabel()}\n(the axis begins at {low:.3g}, not at 0)")


def legend_above(axes: Axes, columns: int) -> None:
    """A legend in this number of columns, between the title and the data."""
    entries = len(axes.get_legend_handles_labels()[1])
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        fontsize=9,
        borderpad=0,
        borderaxespad=0.3,
    )
    _write_title(axes, axes.get_title("left"), -(-entries // columns))


def note_above(axes: Axes, note: str) -> None:
    """A note between the title and the data."""
    axes.annotate(note, (0, 1), (0, 4), "axes fraction", "offset points", va="bottom", color=DARK, fontsize=9)
    _write_title(axes, axes.get_title("left"), note.count("\n") + 1)


_lines_below_title: WeakKeyDictionary[Axes, int] = WeakKeyDictionary()
"""The lines of a legend or a note between a title and the data."""


def align_titles(figure: Figure) -> None:
    """Write the titles of panels beside each other at the same height, above the highest legend or note."""
    rows: dict[int, list[Axes]] = {}
    for axes in figure.axes:
        if (place := axes.get_subplotspec()) is not None:
            rows.setdefault(place.rowspan.start, []).append(axes)
    for row in rows.values():
        most = max(_lines_below_title.get(axes, 0) for axes in row)
        for axes in row:
            _write_title(axes, axes.get_title("left"), most)


def _write_title(axes: Axes, title: str, lines_below: int = 0) -> None:
    _lines_below_title[axes] = lines_below
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=6 + POINTS_OF_LINE * lines_below)


def single_figure(title: str, x_label: str, y_label: str) -> tuple[Figure, Axes]:
    """A figure with one panel, decorated."""
    figure = empty_figure(8, 4.8)
    axes = figure.subplots()
    decorate(axes, title, x_label, y_label)
    return figure, axes


def draw_by_level(axes: Axes, table: DataFrame, column: str, colour: str, label: str | None = None) -> None:
    """A curve of a column of comparison/levels.csv."""
    # Points at the edge of the axes, such as a share of 1, are drawn whole.
    values = table[column].astype(float)
    axes.plot(table["level"], values, LINES[colour], color=colour, label=label, markersize=5, clip_on=False)


def whole_numbers_on_x(axes: Axes, numbers: Iterable[int]) -> None:
    """Let the x axis span `numbers` (levels or epochs), with ticks only at whole numbers."""
    numbers = list(numbers)
    axes.set_xlim(min(numbers) - 0.5, max(numbers) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=13, integer=True, min_n_ticks=1))


def draw_named_lines(axes: Axes, heights: Mapping[str, float]) -> None:
    """A dashed horizontal line for each height, with its name to the right, at its height or a little above.

    Names do not overlap. The limits of the y axis must be set before.
    """
    for height in heights.values():
        axes.axhline(height, color=ORANGE, linewidth=1, linestyle="--", zorder=1)
    low, high = axes.get_ylim()
    free = low
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        place = max(height, free)
        free = place + LINE_OF_TEXT * (high - low)
        axes.annotate(
            readable_name(name),
            (1, height),
            (1.03, place),
            xycoords=axes.get_yaxis_transform(),
            textcoords=axes.get_yaxis_transform(),
            arrowprops={"arrowstyle": "-", "color": ORANGE, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
            color=DARK,
            fontsize=8,
            va="center",
        )
