"""The picture of the positions that searches visit: a tree with values, cut-offs and the chosen line, for each search.

All values are to the player to move in the searched position, who looks for the largest one.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfplay.errors import SettingError
from selfplay.figures.experience_graph import layered_positions
from selfplay.figures.style import BLUE, DARK, GREEN, GREY, ORANGE, RED, default_style
from selfplay.games import Game, State
from selfplay.search.searcher import SearchResult
from selfplay.search.trace import Trace, Visit

Node = tuple[int, ...]
"""The actions that lead to a position."""

LEAST_WIDTH, LEFT, RIGHT, COLUMN = 8.0, 1.15, 0.25, 0.36
"""Inches: the minimum width of the figure, the space beside a tree, and the minimum distance of neighbours."""
LAYER, ABOVE, BELOW = 1.05, 0.75, 0.55
"""Inches: the distance of two plies, and the space above and below a tree."""
MOST_COLUMNS = 150
MINUS = "\N{MINUS SIGN}"


Turns = Callable[[Node], int]
"""Who is to move in a position: 0 for the player to move at the root, 1 for the other."""


def turns_from(game: Game, state: State) -> Turns:
    """The players to move after actions from the position `state` (B = 1)."""

    @cache
    def state_after(node: Node) -> State:
        return game.step_unchecked(state_after(node[:-1]), torch.tensor(node[-1:])) if node else state

    return lambda node: int(state_after(node).current_player ^ state.current_player)


def tree_of(trace: Trace, line: Sequence[int], depth: int, breadth: Sequence[int], turns: Turns) -> nx.DiGraph:
    """The positions that a search visited, and the moves that it cut off, down to `depth`.

    Nodes have parent, layer (plies from the root), player (by `turns`), visits (of this position), text (its value; ""
    where cut off),
    is_chosen (on the line), beneath (visits of positions below that are left out) and moves_hidden (moves left out).
    The numbers of visits and of `beneath` of all nodes sum to the number of positions that the search visited.

    Args:
        line: the principal variation.
        breadth: the number of moves shown in each position, by ply; the last number applies to all later plies. The
            chosen move is always one of them.
    """
    visits: dict[Node, list[Visit]] = {}
    for visit in trace.visits:
        visits.setdefault(visit.actions, []).append(visit)
    exact = _exact_positions(visits, turns)
    graph = nx.DiGraph()

    def add(node: Node, parent: Node | None) -> None:
        found = visits.get(node, [])
        is_chosen = node == tuple(line[: len(node)])
        text = _value_text(turns(node), found, node in exact)
        graph.add_node(node, parent=parent, layer=len(node), player=turns(node), visits=found, text=text)
        graph.nodes[node].update(is_chosen=is_chosen, beneath=0, moves_hidden=0)
        if parent is not None:
            graph.add_edge(parent, node)
        following = found[-1].following if found and len(node) < depth else ()
        width = breadth[min(len(node), len(breadth) - 1)]
        chosen = line[len(node)] if is_chosen and len(node) < len(line) else None
        shown = sorted(following, key=lambda move: move != chosen)[:width]
        graph.nodes[node]["moves_hidden"] = len(following) - len(shown)
        for move in following:
            if move in shown:
                add((*node, move), node)

    add((), None)
    for node, found in visits.items():
        shown = next(node[:length] for length in range(len(node), -1, -1) if node[:length] in graph)
        graph.nodes[shown]["beneath"] += len(found) if shown != node else 0
    return graph


def _exact_positions(visits: Mapping[Node, Sequence[Visit]], turns: Turns) -> set[Node]:
    """The positions whose values are known exactly from all their visits and those beneath them."""
    bounds: dict[Node, tuple[float, float]] = {}
    for node in sorted(visits, key=len, reverse=True):
        low, high = -np.inf, np.inf
        for visit in visits[node]:
            if not visit.following:
                low = high = visit.value
                continue
            tried = []
            for move in visit.following[: visit.num_tried]:
                least, most = bounds[*node, move]
                tried.append((least, most) if turns((*node, move)) == turns(node) else (-most, -least))
            low = max(low, *(least for least, _ in tried))
            if visit.num_tried == len(visit.following):
                high = min(high, max(most for _, most in tried))
        bounds[node] = low, high
    return {node for node, (low, high) in bounds.items() if low == high}


def _value_text(player: int, visits: Sequence[Visit], is_exact: bool) -> str:
    """The value to the player to move at the root; with a bound unless it is exact."""
    if not visits:
        return ""
    visit, sign = visits[-1], -1 if player else 1
    bound = 0
    if not is_exact:
        bound = (visit.value >= visit.beta) - (visit.value <= visit.alpha)
    text = f"{sign * visit.value + 0.0:+.3g}".replace("-", MINUS)
    return {0: "", 1: "\N{GREATER-THAN OR EQUAL TO}", -1: "\N{LESS-THAN OR EQUAL TO}"}[bound * sign] + (
        "0" if text == "+0" else text
    )


@default_style()
def picture_of_searches(
    searched: Mapping[str, tuple[SearchResult, Trace]],
    move_name: Callable[[Sequence[int]], str],
    players: tuple[str, str],
    turns: Turns,
    depth: int,
    breadth: Sequence[int],
) -> Figure:
    """One panel for each search.

    Args:
        searched: the results of each search, by its name.
        move_name: from the actions that lead to a position to the text of the last one.
        players: the names of the player to move at the root and of the other.

    Raises SettingError if more than MOST_COLUMNS positions would be side by side.
    """
    trees = [tree_of(trace, result.principal_variation, depth, breadth, turns) for result, trace in searched.values()]
    width = max(LEAST_WIDTH, LEFT + RIGHT + COLUMN * max(map(_columns, trees)))
    layers = [max(layer for _, layer in tree.nodes(data="layer")) for tree in trees]
    heights = [LAYER * count + ABOVE + BELOW for count in layers]
    figure = Figure(figsize=(width, sum(heights) + 0.55))
    top = sum(heights) + 0.55
    for (name, (result, _)), tree, height in zip(searched.items(), trees, heights, strict=True):
        axes = figure.add_axes((0, (top - height) / (sum(heights) + 0.55), 1, height / (sum(heights) + 0.55)))
        _draw_tree(axes, tree, (width, height), move_name, players)
        title = f"{name.replace('_', '-')}: {_count(result.visited, 'position')} visited"
        axes.text(0.15, height - 0.22, title, fontsize=12, fontweight="bold", va="center", color=DARK)
        top -= height
    _draw_legend(figure, (width, sum(heights) + 0.55), players)
    return figure


def _columns(tree: nx.DiGraph) -> int:
    """The number of positions side by side."""
    columns = sum(1 for _, degree in tree.out_degree() if degree == 0)
    if columns > MOST_COLUMNS:
        raise SettingError(
            f"picture.file: {columns:,} positions would be side by side, and at most {MOST_COLUMNS} can be drawn; "
            "set a smaller picture.depth or picture.breadth"
        )
    return columns


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _draw_tree(
    axes: Axes,
    tree: nx.DiGraph,
    size: tuple[float, float],
    move_name: Callable[[Sequence[int]], str],
    players: tuple[str, str],
) -> None:
    width, height = size
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    raw = layered_positions(tree, ())
    columns = [x for x, _ in raw.values()]
    step = (width - LEFT - RIGHT) / (max(columns) - min(columns) + 1)
    places = {
        node: (LEFT + step * (x - min(columns) + 0.5), height - ABOVE - LAYER * len(node))
        for node, (x, _) in raw.items()
    }
    small = 1.0 if step > 0.6 else max(0.62, step / 0.6)
    for parent, child in tree.edges:
        _draw_move(axes, tree.nodes[child], places[parent], places[child], move_name(child), small)
    for node in tree:
        _draw_position(axes, tree.nodes[node], places[node], small)
    for ply in range(max(layer for _, layer in tree.nodes(data="layer"))):
        in_layer = {attributes["player"] for node, attributes in tree.nodes(data=True) if len(node) == ply}
        if len(in_layer) == 1:
            (player,) = in_layer
            best, colour = (("largest", BLUE), ("smallest", ORANGE))[player]
            y = height - ABOVE - LAYER * ply
            axes.text(0.15, y, f"{players[player]}\n{best}", fontsize=8.5, va="center", color=colour)


def _draw_move(
    axes: Axes, child: Mapping[str, Any], start: tuple[float, float], end: tuple[float, float], text: str, small: float
) -> None:
    """The line from a position to the next, with the move; dashed and crossed where it was cut off."""
    (x, y), (to_x, to_y) = start, end
    is_cut = not child["visits"]
    colour, width = (GREEN, 3.0) if child["is_chosen"] else (GREY, 1.0)
    axes.plot([x, to_x], [y, to_y], color=colour, linewidth=width, linestyle=(0, (3, 3)) if is_cut else "-", zorder=1)
    middle = (x + 0.55 * (to_x - x), y + 0.55 * (to_y - y))
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(*middle, text, fontsize=8 * small, ha="center", va="center", color=GREY if is_cut else DARK, bbox=box)
    if is_cut:
        at = (x + 0.32 * (to_x - x), y + 0.32 * (to_y - y))
        for shift in (-0.025, 0.025):
            axes.plot([at[0] - 0.08, at[0] + 0.08], [at[1] + shift] * 2, color=RED, linewidth=1.6, zorder=3)


def _draw_position(axes: Axes, attributes: Mapping[str, Any], place: tuple[float, float], small: float) -> None:
    (x, y), visits = place, attributes["visits"]
    if not visits:
        axes.plot([x], [y], marker="o", markersize=7 * small, markerfacecolor="white", markeredgecolor=GREY, zorder=2)
        return
    edge = ORANGE if attributes["player"] else BLUE
    is_leaf = not visits[-1].following
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": "#e4f3e9" if attributes["is_chosen"] else "white",
        "edgecolor": GREEN if attributes["is_chosen"] else GREY if is_leaf else edge,
        "linewidth": 2.2 if attributes["is_chosen"] else 1.2,
    }
    weight = "normal" if is_leaf else "bold"
    axes.text(
        x, y, attributes["text"], fontsize=10 * small, fontweight=weight, ha="center", va="center", color=DARK, bbox=box
    )
    half = 3.2 * small * (len(attributes["text"]) + 1) + 5
    beside: dict[str, Any] = {"xy": (x, y), "textcoords": "offset points", "va": "center", "annotation_clip": False}
    if attributes["moves_hidden"] or attributes["beneath"]:
        text = f"{attributes['beneath']:,} more" if attributes["beneath"] else "\N{HORIZONTAL ELLIPSIS}"
        axes.annotate(text, xytext=(half, -3), fontsize=8 * small, color=GREY, **beside)
    if len(visits) > 1:
        text = f"{len(visits)}\N{MULTIPLICATION SIGN}"
        axes.annotate(text, xytext=(half - 2, 8), fontsize=8.5 * small, fontweight="bold", color=RED, **beside)


def _draw_legend(figure: Figure, size: tuple[float, float], players: tuple[str, str]) -> None:
    width, height = size
    note = (
        f"Values are to {players[0]}. Green: the chosen line. Dashed with red bars: cut off, never visited. "
        "\N{LESS-THAN OR EQUAL TO} \N{GREATER-THAN OR EQUAL TO}: the rest could not matter.\n"
        "2\N{MULTIPLICATION SIGN}: visited twice, after a null window required it. "
        "32 more: visited positions that are not shown. \N{HORIZONTAL ELLIPSIS}: moves not shown, none visited."
    )
    figure.text(0.15 / width, 0.28 / height, note, fontsize=8, va="center", color=DARK)
