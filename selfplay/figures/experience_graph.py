"""The picture of an experience graph: the boards that follow a board, a layer per ply, with their scores.

Frames and arrows have the colour of the player with the better score. A larger absolute score makes them darker and
wider; a score of 0 is grey and thin.
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import networkx as nx
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path as Outline

from selfplay.errors import SettingError
from selfplay.experience.graph import Board, Squares
from selfplay.experience.store import ExperienceStore
from selfplay.figures.style import BLUE, DARK, GREY, ORANGE, default_style, save_figure
from selfplay.settings.classical import PictureSettings

COLOURS = {1: BLUE, -1: ORANGE, 0: GREY}
BOARD = 0.74
"""Side of a board; the boards of a layer are at least 1 apart."""
LAYER = 1.75
LEAST_WIDTH = 6.6
PALE = 0.25
"""The strength of the colour of scores near 0. Colour and width grow with the square of the score, because the scores
of neighbouring boards differ by only a tenth."""

Key = TypeVar("Key", bound=Hashable)


def reachable_boards(boards: Mapping[int, Board], start: int, depth: int, breadth: Sequence[int]) -> nx.DiGraph:
    """The boards that can follow number `start`, those with the largest absolute scores first.

    Nodes have squares, score, is_end, layer (plies from the start), parent (the board by which it was found) and
    hidden (number of following boards that are left out); edges have the weight abs(score of the following board).

    Args:
        breadth: the number of boards shown after each board, by ply; the last number applies to all later plies.
    """
    graph = nx.DiGraph()
    _add(graph, boards, start, 0, None)
    layer = [start]
    for ply in range(depth):
        width = breadth[min(ply, len(breadth) - 1)]
        following: list[int] = []
        for number in layer:
            shown = sorted(boards[number].following, key=lambda child: -abs(boards[child].score))[:width]
            graph.nodes[number]["hidden"] -= len(shown)
            for child in shown:
                if child not in graph:
                    _add(graph, boards, child, ply + 1, number)
                    following.append(child)
                graph.add_edge(number, child, weight=abs(boards[child].score))
        layer = following
    return graph


def _add(graph: nx.DiGraph, boards: Mapping[int, Board], number: int, layer: int, parent: int | None) -> None:
    board = boards[number]
    attributes = {"squares": board.squares, "score": board.score, "is_end": board.is_end, "layer": layer}
    graph.add_node(number, **attributes, parent=parent, hidden=len(board.following))


def layered_positions(graph: nx.DiGraph, start: Key) -> dict[Key, tuple[float, float]]:
    """The place (x, y) of each board: a layer per ply, each board centred above the boards found from it."""
    places: dict[Key, tuple[float, float]] = {}
    found: dict[Key | None, list[Key]] = {}
    for number, parent in graph.nodes(data="parent"):
        found.setdefault(parent, []).append(number)
    leaves = 0.0

    def place(number: Key) -> float:
        nonlocal leaves
        own = [place(child) for child in found.get(number, ())]
        if not own:
            leaves += 1
        x = (own[0] + own[-1]) / 2 if own else leaves
        places[number] = (x, -LAYER * graph.nodes[number]["layer"])
        return x

    place(start)
    return places


class BoardsAhead(NamedTuple):
    """The known boards that can follow one board."""

    graph: nx.DiGraph
    start: int
    shape: tuple[int, int]

    def counts(self) -> str:
        """The numbers of nodes and edges, in one line."""
        return f"boards (nodes): {self.graph.number_of_nodes()}, moves (edges): {self.graph.number_of_edges()}"

    def report(self) -> str:
        """The counts, every node with its score, every edge with its weight, and the degree of every node."""
        nodes = (f"{number} {score:+.3f}" for number, score in self.graph.nodes(data="score"))
        edges = (f"{board}-{child} {weight:.3f}" for board, child, weight in self.graph.edges(data="weight"))
        degrees = (f"{number}: {degree}" for number, degree in self.graph.degree())
        lines = {"nodes, with scores": nodes, "edges, with weights": edges, "degrees of the nodes": degrees}
        return "\n".join([self.counts(), *(f"{name}: {', '.join(items)}" for name, items in lines.items())])


def boards_ahead(store: ExperienceStore, squares: Squares, options: PictureSettings) -> BoardsAhead | None:
    """The boards that follow the board with these squares; None if the store does not have that board."""
    boards, form = store.boards(), store.form.of(squares)
    start = next((number for number, board in boards.items() if board.squares == form), None)
    if start is None:
        return None
    rows, columns = store.game.observation_shape[1:]
    return BoardsAhead(reachable_boards(boards, start, options.depth, options.breadth), start, (rows, columns))


@default_style()
def draw_boards_ahead(ahead: BoardsAhead, file: str | None) -> None:
    """Draw the picture into a file, or on the screen if `file` is None.

    Raises SettingError if no display is available, StageError if the file cannot be written.
    """
    if file is not None:
        save_figure(picture_of(ahead), Path(file))
    elif plt.get_backend().lower() == "agg":
        raise SettingError("picture.file=null: no display is available; set a file")
    else:
        picture_of(ahead, plt.figure())
        plt.show()


def picture_of(ahead: BoardsAhead, figure: Figure | None = None) -> Figure:
    """Draw the boards, each of `shape` (rows, columns), on `figure` or a new one."""
    graph, start, shape = ahead
    places = layered_positions(graph, start)
    xs, ys = zip(*places.values(), strict=True)
    half_width = max(max(xs) - min(xs) + 1.4, LEAST_WIDTH) / 2
    left, right = ((min(xs) + max(xs)) / 2 + side * half_width for side in (-1, 1))
    bottom, top = min(ys) - 1.3, max(ys) + 1.0
    figure = figure or Figure()
    figure.set_size_inches(right - left, top - bottom)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    _draw_arrows(axes, graph, places)
    for number in graph:
        _draw_node(axes, graph, number, places[number], shape)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    _draw_texts(axes, len(graph) - 1, left, bottom, top)
    return figure


def _colour(score: float) -> tuple[float, float, float]:
    """The colour of the player with the better score, paler for smaller absolute scores."""
    if score == 0:
        return to_rgb(GREY)
    strength = PALE + (1 - PALE) * score * score
    full = to_rgb(COLOURS[1 if score > 0 else -1])
    red, green, blue = (1 - strength * (1 - channel) for channel in full)
    return red, green, blue


def _width(score: float) -> float:
    return 0.8 + 3.8 * score * score


def _draw_arrows(axes: Axes, graph: nx.DiGraph, places: Mapping[int, tuple[float, float]]) -> None:
    """Draw the arrows in ascending order of weight, so that strong ones are on top."""
    for parent, child, weight in sorted(graph.edges(data="weight"), key=lambda edge: edge[2]):
        (x, y), (to_x, to_y) = places[parent], places[child]
        room = 0.41 if graph.nodes[parent]["hidden"] else 0.27
        y, to_y = y - BOARD / 2 - room, to_y + BOARD / 2 + 0.2
        middle = (y + to_y) / 2
        outline = Outline(
            [(x, y), (x, middle), (to_x, middle), (to_x, to_y)],
            [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4],
        )
        colour = _colour(graph.nodes[child]["score"])
        axes.add_patch(PathPatch(outline, facecolor="none", edgecolor=colour, linewidth=_width(weight), zorder=1))


def _draw_node(axes: Axes, graph: nx.DiGraph, number: int, place: tuple[float, float], shape: tuple[int, int]) -> None:
    (x, y), node = place, graph.nodes[number]
    corner = (x - BOARD / 2, y - BOARD / 2)
    style: dict[str, Any] = {"edgecolor": _colour(node["score"]), "linewidth": _width(node["score"])}
    axes.add_patch(
        FancyBboxPatch(corner, BOARD, BOARD, "round,pad=0.04,rounding_size=0.08", facecolor="white", zorder=2, **style)
    )
    before = number if node["parent"] is None else node["parent"]
    _draw_board(axes, node["squares"], graph.nodes[before]["squares"], corner, shape)
    axes.text(x, y + BOARD / 2 + 0.12, f"{number}", ha="center", va="center", fontsize=7, color=GREY)
    below = y - BOARD / 2 - 0.17
    axes.text(x, below, _label(node), ha="center", va="center", fontsize=10, fontweight="bold", color=DARK)
    if node["hidden"]:
        axes.text(x, below - 0.17, f"{node['hidden']} more", ha="center", va="center", fontsize=7, color=GREY)


def _label(node: Mapping[str, Any]) -> str:
    if node["is_end"] and node["score"]:
        return "X wins" if node["score"] > 0 else "O wins"
    return f"{node['score']:+.2f}".replace("-", "\N{MINUS SIGN}") if node["score"] else "0"


def _draw_board(
    axes: Axes, squares: Squares, before: Squares, corner: tuple[float, float], shape: tuple[int, int]
) -> None:
    """Draw the stones of a board; if it differs from the board before in one square, that square is shaded."""
    rows, columns = shape
    side = BOARD / max(shape)
    changed = [square for square, (stone, was) in enumerate(zip(squares, before, strict=True)) if stone != was]
    for square, stone in enumerate(squares):
        left = corner[0] + side * (square % columns)
        low = corner[1] + side * (rows - 1 - square // columns)
        shade = "#fdf0c4" if changed == [square] else "none"
        axes.add_patch(
            Rectangle((left, low), side, side, facecolor=shade, edgecolor="#c9cdd3", linewidth=0.6, zorder=3)
        )
        if stone:
            _draw_stone(axes, stone, left + side / 2, low + side / 2, 0.28 * side)


def _draw_stone(axes: Axes, stone: int, x: float, y: float, radius: float) -> None:
    colour = COLOURS[stone]
    if stone == 1:
        for slope in (-1, 1):
            ends = [y - slope * radius, y + slope * radius]
            axes.plot([x - radius, x + radius], ends, color=colour, linewidth=1.8, zorder=4, solid_capstyle="round")
    else:
        axes.add_patch(Circle((x, y), radius, fill=False, edgecolor=colour, linewidth=1.8, zorder=4))


def _draw_texts(axes: Axes, boards: int, left: float, bottom: float, top: float) -> None:
    title = f"Boards that follow in the experience graph: {boards} shown"
    axes.text(left + 0.25, top - 0.28, title, fontsize=13, fontweight="bold", va="center")
    note = (
        "below a board: its score, up to +1 for X and \N{MINUS SIGN}1 for O; wider and darker: closer to a win\n"
        "3 more: number of boards after this one that are not shown"
    )
    axes.text(left + 0.25, bottom + 0.28, note, fontsize=8.5, va="center", color=DARK)
