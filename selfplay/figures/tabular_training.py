"""tabular_RULE.png: the results of the matches from which a table of values was learned."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from selfplay.figures.style import (
    BLUE,
    GREY,
    LINES,
    ORANGE,
    default_style,
    legend_above,
    save_figure,
    single_figure,
    write_source,
)
from selfplay.runs.learning_curve import read_curve

CURVES = ((1, "first player won", BLUE), (3, "second player won", ORANGE), (2, "drawn", GREY))
"""The column, label and colour of each curve."""


@default_style()
def draw_training(table: Path, picture: Path, source: str) -> None:
    """Draw the table that `selfplay.stages.train_tabular` has written.

    Raises InvalidFileError if the table cannot be read, StageError if the picture cannot be written.

    Args:
        source: what the figure shows, above its title.
    """
    figure = training_curve(read_curve(table), table.stem)
    write_source(figure, source)
    save_figure(figure, picture)


def training_curve(rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], rule: str) -> Figure:
    """The share of matches won by each player and drawn, of the matches between two rows.

    `rows`: int64[N, 4], the matches so far, and how many of them the first player won, drew and lost.
    """
    steps = np.diff(rows, axis=0, prepend=0)
    title = f"Matches from which {rule} was learned, {steps[0, 0]:,} at a time"
    figure, axes = single_figure(title, "matches", "share")
    for column, label, colour in CURVES:
        share, style = steps[:, column] / steps[:, 0], LINES[colour]
        # Many markers would hide their line.
        axes.plot(rows[:, 0], share, style if len(rows) < 50 else style[1:], color=colour, label=label)
    axes.set_ylim(0, 1)
    axes.set_xlim(0)
    legend_above(axes, columns=3)
    return figure
