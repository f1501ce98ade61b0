"""square_weights.png: what tables of patterns have learned, as the value of a stone on each square, phase by phase."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from selfplay.architectures.ntuple import NTuple
from selfplay.figures.style import empty_figure
from selfplay.figures.trained_run import TrainedRun
from selfplay.games.patterns import Patterns

PANELS_IN_A_ROW = 4


def pictures(run: TrainedRun) -> dict[str, Figure]:
    """square_weights.png of the newest level, if its network is made of tables of patterns."""
    network = run.network(run.newest)
    return {"square_weights.png": square_weight_maps(network, run.newest)} if isinstance(network, NTuple) else {}


def square_weights(network: NTuple) -> NDArray[np.float64]:
    """float64[phases, rows, columns]: what a stone of the player who has just moved adds on each square.

    The sum over all images of patterns that lie on the square: the mean weight of the fillings with a stone of the one
    player there, less that of those with a stone of the other, halved. Fillings that were never met weigh 0 and are
    left out. The weights add up inside a hyperbolic tangent, so near 0 they are shares of the outcome.
    """
    patterns = network.patterns
    weights = network.weight.detach().double().numpy()
    totals = np.zeros((len(weights), network.num_squares))
    for number, image in enumerate(patterns.images):
        entries = weights[:, _weights_of_image(patterns, number)]
        fillings = np.arange(entries.shape[1])
        for digit, square in enumerate(image):
            stone = fillings // 3**digit % 3
            totals[:, square] += (_mean_of_met(entries[:, stone == 1]) - _mean_of_met(entries[:, stone == 2])) / 2
    return totals.reshape(len(weights), *network.board)


def _weights_of_image(patterns: Patterns, number: int) -> NDArray[np.int32]:
    start = patterns.offsets[number]
    return patterns.weight_of_entry[start : start + 3 ** len(patterns.images[number])]


def _mean_of_met(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[phases]: the mean of the entries that are not 0; 0 where there are none."""
    mean: NDArray[np.float64] = entries.sum(axis=1) / np.maximum(1, (entries != 0).sum(axis=1))
    return mean


def square_weight_maps(network: NTuple, level: int) -> Figure:
    """A board for each phase, coloured by `square_weights`."""
    weights = square_weights(network)
    phases, rows, columns = weights.shape
    wide = min(phases, PANELS_IN_A_ROW)
    high = -(-phases // wide)
    figure = empty_figure(2.6 * wide + 1, 2.6 * high * rows / columns + 1)
    largest = float(np.abs(weights).max()) or 1.0
    panels = figure.subplots(high, wide, squeeze=False)
    for axes in panels.flat[phases:]:
        axes.set_axis_off()
    for phase, axes in enumerate(panels.flat[:phases]):
        picture = axes.imshow(weights[phase], cmap="PuOr_r", vmin=-largest, vmax=largest)
        first, last = _stones(phase, phases, rows * columns)
        axes.set_title(f"{first} to {last} stones", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
        for (row, column), value in np.ndenumerate(weights[phase]):
            dark = abs(value) > 0.6 * largest
            text = f"{round(100 * value, 1) + 0.0:.1f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color="w" if dark else "k")
    figure.colorbar(picture, ax=panels, shrink=0.8, format=lambda value, _: f"{100 * value:.0f}")
    title = f"Value added by a stone on each square, in hundredths: level {level}"
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    return figure


def _stones(phase: int, phases: int, squares: int) -> tuple[int, int]:
    """The smallest and the largest number of stones in a phase."""
    in_phase = [count for count in range(squares + 1) if count * phases // (squares + 1) == phase]
    return in_phase[0], in_phase[-1]
