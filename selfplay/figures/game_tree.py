"""The picture of the positions that searches visit: a tree with values, cut-offs and the chosen line, for each search.

All values are to the player to move in the searched position, who looks for the largest one.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

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
NOTE_LETTERS = 15.5
"""The number of letters of the note in an inch of the width."""
MINUS, TIMES, ELLIPSIS = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{HORIZONTAL ELLIPSIS}"
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
AT_MOST, AT_LEAST = "\N{LESS-THAN OR EQUAL TO}", "\N{GREATER-THAN OR EQUAL TO}"


Turns = Callable[[Node], int]
"""Who is to move in a position: 0 for the player to move at the root, 1 for the other."""


def turns_from(game: Game, state: State) -> Turns:
    """The players to move after actions from the position `state` (B = 1)."""

    @cache
    def state_after(node: Node) -> State:
        return game.step_unchecked(state_after(node[:-1]), torch.tensor(node[-1:])) if node else state

    return lambda node: int(state_after(node).current_player ^ state.current_player)


@dataclass
class ShownPosition:
    """A position of the tree, or a move that was cut off."""

    parent: Node | None
    player: int
    """By `Turns`."""
    visits: Sequence[Visit]
    """Of this position; none where it was cut off."""
    text: str
    """Its value; empty where it was cut off."""
    is_chosen: bool
    """Whether it is on the chosen line."""
    moves_hidden: int
    """The number of moves that are left out."""
    beneath: int = 0
    """The number of visits of positions below it that are left out."""


Tree = dict[Node, ShownPosition]
"""A position comes before those that follow it."""


def tree_of(trace: Trace, line: Sequence[int], depth: int, breadth: Sequence[int], turns: Turns) -> Tree:
    """The positions that a search visited, and the moves that it cut off, down to `depth`.

    The numbers of visits and of `beneath` of all positions sum to the number of positions that the search visited.

    Args:
        line: the principal variation.
        breadth: the number of moves shown in each position, by ply; the last number applies to all later plies. The
            chosen move is always one of them.
    """
    visits: dict[Node, list[Visit]] = {}
    for visit in trace.visits:
        visits.setdefault(visit.actions, []).append(visit)
    exact, tree = _exact_positions(visits, turns), Tree()

    def add(node: Node, parent: Node | None) -> None:
        found = visits.get(node, [])
        is_chosen = node == tuple(line[: len(node)])
        text = _value_text(turns(node), found, node in exact)
        following = found[-1].following if found and len(node) < depth else ()
        width = breadth[min(len(node), len(breadth) - 1)]
        chosen = line[len(node)] if is_chosen and len(node) < len(line) else None
        shown = sorted(following, key=lambda move: move != chosen)[:width]
        tree[node] = ShownPosition(parent, turns(node), found, text, is_chosen, len(following) - len(shown))
        for move in following:
            if move in shown:
                add((*node, move), node)

    add((), None)
    for node, found in visits.items():
        shown = next(node[:length] for length in range(len(node), -1, -1) if node[:length] in tree)
        tree[shown].beneath += len(found) if shown != node else 0
    return tree


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
    return {0: "", 1: AT_LEAST, -1: AT_MOST}[bound * sign] + ("0" if text == "+0" else text)


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
    layers = [max(map(len, tree)) for tree in trees]
    heights = [LAYER * count + ABOVE + BELOW for count in layers]
    top = top_of_all = sum(heights) + 0.55
    figure = Figure(figsize=(width, top))
    for (name, (result, _)), tree, height in zip(searched.items(), trees, heights, strict=True):
        axes = figure.add_axes((0, (top - height) / top_of_all, 1, height / top_of_all))
        _draw_tree(axes, tree, (width, height), move_name, players)
        title = f"{name.replace('_', '-')}: {_count(result.visited, 'position')} visited"
        axes.text(0.15, height - 0.22, title, fontsize=12, fontweight="bold", va="center", color=DARK)
        top -= height
    note = "\n".join(textwrap.wrap(_note(trees, players), width=int(NOTE_LETTERS * width), break_on_hyphens=False))
    figure.text(0.15 / width, 0.28 / top_of_all, note, fontsize=8, va="center", color=DARK)
    return figure


def _columns(tree: Tree) -> int:
    """The number of positions side by side."""
    columns = len(tree.keys() - {position.parent for position in tree.values()})
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
    tree: Tree,
    size: tuple[float, float],
    move_name: Callable[[Sequence[int]], str],
    players: tuple[str, str],
) -> None:
    width, height = size
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    raw = layered_positions({node: position.parent for node, position in tree.items()})
    columns = [x for x, _ in raw.values()]
    step = (width - LEFT - RIGHT) / (max(columns) - min(columns) + 1)
    places = {
        node: (LEFT + step * (x - min(columns) + 0.5), height - ABOVE - LAYER * len(node))
        for node, (x, _) in raw.items()
    }
    small = 1.0 if step > 0.6 else max(0.62, step / 0.6)
    for node, position in tree.items():
        if position.parent is not None:
            _draw_move(axes, position, places[position.parent], places[node], move_name(node), small)
    for node, position in tree.items():
        _draw_position(axes, position, places[node], small)
    for ply in range(max(map(len, tree))):
        in_layer = {position.player for node, position in tree.items() if len(node) == ply}
        if len(in_layer) == 1:
            (player,) = in_layer
            best, colour = (("largest", BLUE), ("smallest", ORANGE))[player]
            y = height - ABOVE - LAYER * ply
            axes.text(0.15, y, f"{players[player]}\n{best}", fontsize=8.5, va="center", color=colour)


def _draw_move(
    axes: Axes, child: ShownPosition, start: tuple[float, float], end: tuple[float, float], text: str, small: float
) -> None:
    """The line from a position to the next, with the move; dashed and crossed where it was cut off."""
    (x, y), (to_x, to_y) = start, end
    is_cut = not child.visits
    colour, width = (GREEN, 3.0) if child.is_chosen else (GREY, 1.0)
    axes.plot([x, to_x], [y, to_y], color=colour, linewidth=width, linestyle=(0, (3, 3)) if is_cut else "-", zorder=1)
    middle = (x + 0.55 * (to_x - x), y + 0.55 * (to_y - y))
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(*middle, text, fontsize=8 * small, ha="center", va="center", color=GREY if is_cut else DARK, bbox=box)
    if is_cut:
        at = (x + 0.32 * (to_x - x), y + 0.32 * (to_y - y))
        for shift in (-0.025, 0.025):
            axes.plot([at[0] - 0.08, at[0] + 0.08], [at[1] + shift] * 2, color=RED, linewidth=1.6, zorder=3)


def _draw_position(axes: Axes, position: ShownPosition, place: tuple[float, float], small: float) -> None:
    (x, y), visits = place, position.visits
    if not visits:
        axes.plot([x], [y], marker="o", markersize=7 * small, markerfacecolor="white", markeredgecolor=GREY, zorder=2)
        return
    edge = ORANGE if position.player else BLUE
    is_leaf = not visits[-1].following
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": "#e4f3e9" if position.is_chosen else "white",
        "edgecolor": GREEN if position.is_chosen else GREY if is_leaf else edge,
        "linewidth": 2.2 if position.is_chosen else 1.2,
    }
    weight = "normal" if is_leaf else "bold"
    axes.text(
        x, y, position.text, fontsize=10 * small, fontweight=weight, ha="center", va="center", color=DARK, bbox=box
    )
    half = 3.2 * small * (len(position.text) + 1) + 5
    beside: dict[str, Any] = {"xy": (x, y), "textcoords": "offset points", "va": "center", "annotation_clip": False}
    if position.moves_hidden or position.beneath:
        text = f"{position.beneath:,} more" if position.beneath else ELLIPSIS
        axes.annotate(text, xytext=(half, -3), fontsize=8 * small, color=GREY, **beside)
    if len(visits) > 1:
        text = f"{len(visits)}{TIMES}"
        axes.annotate(text, xytext=(half - 2, 8), fontsize=8.5 * small, fontweight="bold", color=RED, **beside)


def _note(trees: Sequence[Tree], players: tuple[str, str]) -> str:
    """What the marks mean that occur in one of the trees."""
    positions = [position for tree in trees for position in tree.values()]
    texts = "".join(position.text for position in positions)
    bounds = [sign for sign in (AT_MOST, AT_LEAST) if sign in texts]
    beneath = next((position.beneath for position in positions if position.beneath), 0)
    explained = {
        f"Values are to {players[0]}.": True,
        "Green: the chosen line.": True,
        "Dashed with red bars: cut off, never visited.": any(not position.visits for position in positions),
        f"{' '.join(bounds)}: the rest could not matter.": bool(bounds),
        f"2{TIMES}: visited twice, after a null window required it.": any(len(one.visits) > 1 for one in positions),
        f"{beneath:,} more: visited positions that are not shown.": bool(beneath),
        f"{ELLIPSIS}: moves not shown, none visited.": any(
            position.moves_hidden and not position.beneath for position in positions
        ),
    }
    # Lines end between explanations only.
    return " ".join(text.replace(" ", NO_BREAK_SPACE) for text, occurs in explained.items() if occurs)
