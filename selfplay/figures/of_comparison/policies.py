"""policies.png: the entropy of the policy of each level, and how often the search agrees with it."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from selfplay.figures.style import BLUE, GREEN, decorate, empty_figure, whole_numbers_on_x
from selfplay.grading.comparison import Comparison


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure; none if levels learn no policies."""
    measured = comparison.measurement
    if measured is not None:
        rows = [(measure.level, measure.entropy, measure.agreement) for measure in measured.policies]
    else:
        rows = [(way.level, way.entropy, way.agreement) for way in comparison.ways if way.entropy is not None]
    return {"policies.png": policies(*zip(*rows, strict=True))} if rows else {}


def policies(levels: Sequence[int], entropies: Sequence[float], agreements: Sequence[float]) -> Figure:
    """Entropies on the left and agreements on the right, by level."""
    figure = empty_figure(11, 4.2)
    left, right = figure.subplots(1, 2)
    decorate(left, "How undecided the policy is", "level", "mean entropy (nats)")
    decorate(right, "How often the search chooses its action", "level", "share of positions")
    left.plot(levels, entropies, "o-", color=BLUE, markersize=5)
    right.plot(levels, agreements, "o-", color=GREEN, markersize=5)
    left.set_ylim(0, 1.1 * max(entropies) or 1)
    right.set_ylim(0, 1.05)
    for axes in (left, right):
        whole_numbers_on_x(axes, levels)
    return figure
