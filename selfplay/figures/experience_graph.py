"""The picture of an experience graph: the boards that follow a board, a layer per ply, with their scores.

Frames and arrows have the colour of the player with the better score. A larger absolute score makes them darker and
wider; a score of 0 is grey and thin.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path as Outline

from selfplay.errors import SettingError
from selfplay.experience.graph import MetBoard, Squares
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


class BoardsAhead(NamedTuple):
    """The known boards that can follow one board."""

    boards: Mapping[int, MetBoard]
    """All boards that are known."""
    parents: dict[int, int | None]
    """The shown boards: for each the board by which it was found, None for the first."""
    moves: list[tuple[int, int]]
    """A shown board, and one that has followed it."""
    shape: tuple[int, int]
    """Rows and columns of a board."""

    def hidden(self, number: int) -> int:
        """How many of the boards that have followed a board are left out."""
        return len(self.boards[number].following) - sum(1 for parent, _ in self.moves if parent == number)

    def weight(self, move: tuple[int, int]) -> float:
        """The absolute score of the board that a move leads to."""
        return abs(self.boards[move[1]].score)

    def counts(self) -> str:
        """The numbers of nodes and edges, in one line."""
        return f"boards (nodes): {len(self.parents)}, moves (edges): {len(self.moves)}"

    def report(self) -> str:
        """The counts, every node with its score, every edge with its weight, and the degree of every node."""
        ends = Counter(number for move in self.moves for number in move)
        nodes = (f"{number} {self.boards[number].score:+.3f}" for number in self.parents)
        edges = (f"{board}-{child} {self.weight((board, child)):.3f}" for board, child in self.moves)
        degrees = (f"{number}: {ends[number]}" for number in self.parents)
        lines = {"nodes, with scores": nodes, "edges, with weights": edges, "degrees of the nodes": degrees}
        return "\n".join([self.counts(), *(f"{name}: {', '.join(items)}" for name, items in lines.items())])


def boards_ahead(store: ExperienceStore, squares: Squares, options: PictureSettings) -> BoardsAhead | None:
    """The boards that follow the board with these squares; None if the store does not have that board.

    Those with the largest absolute scores are shown, as many plies and boards after each board as the options say.
    """
    boards, form = store.boards(), store.form.of(squares)
    start = next((number for number, board in boards.items() if board.squares == form), None)
    if start is None:
        return None
    parents, moves = dict[int, int | None]({start: None}), list[tuple[int, int]]()
    layer = [start]
    for ply in range(options.depth):
        width = options.breadth[min(ply, len(options.breadth) - 1)]
        shown = [
            (number, child)
            for number in layer
            for child in sorted(boards[number].following, key=lambda child: -abs(boards[child].score))[:width]
        ]
        layer = list(dict.fromkeys(child for _, child in shown if child not in parents))
        for number, child in shown:
            parents.setdefault(child, number)
        moves += shown
    rows, columns = store.game.observation_shape[1:]
    return BoardsAhead(boards, parents, moves, (rows, columns))


def layered_positions(parents: Mapping[Key, Key | None]) -> dict[Key, tuple[float, float]]:
    """The place (x, y) of each node, the first of which has no parent: a layer per ply, and each node centred above the
    nodes found from it."""
    places: dict[Key, tuple[float, float]] = {}
    found: dict[Key | None, list[Key]] = {}
    for node, parent in parents.items():
        found.setdefault(parent, []).append(node)
    leaves = 0.0

    def place(node: Key, layer: int) -> float:
        nonlocal leaves
        own = [place(child, layer + 1) for child in found.get(node, ())]
        if not own:
            leaves += 1
        x = (own[0] + own[-1]) / 2 if own else leaves
        places[node] = (x, -LAYER * layer)
        return x

    place(found[None][0], 0)
    return places


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
    """Draw the boards on `figure` or a new one."""
    places = layered_positions(ahead.parents)
    xs, ys = zip(*places.values(), strict=True)
    half_width = max(max(xs) - min(xs) + 1.4, LEAST_WIDTH) / 2
    left, right = ((min(xs) + max(xs)) / 2 + side * half_width for side in (-1, 1))
    bottom, top = min(ys) - 1.6, max(ys) + 1.0
    figure = figure or Figure()
    figure.set_size_inches(right - left, top - bottom)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    _draw_arrows(axes, ahead, places)
    for number in ahead.parents:
        _draw_node(axes, ahead, number, places[number])
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    _draw_texts(axes, len(ahead.parents) - 1, left, bottom, top)
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


def _draw_arrows(axes: Axes, ahead: BoardsAhead, places: Mapping[int, tuple[float, float]]) -> None:
    """Draw the arrows in ascending order of weight, so that strong ones are on top."""
    for parent, child in sorted(ahead.moves, key=ahead.weight):
        (x, y), (to_x, to_y) = places[parent], places[child]
        room = 0.41 if ahead.hidden(parent) else 0.27
        y, to_y = y - BOARD / 2 - room, to_y + BOARD / 2 + 0.2
        middle = (y + to_y) / 2
        outline = Outline(
            [(x, y), (x, middle), (to_x, middle), (to_x, to_y)],
            [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4],
        )
        colour, width = _colour(ahead.boards[child].score), _width(ahead.weight((parent, child)))
        axes.add_patch(PathPatch(outline, facecolor="none", edgecolor=colour, linewidth=width, zorder=1))


def _draw_node(axes: Axes, ahead: BoardsAhead, number: int, place: tuple[float, float]) -> None:
    (x, y), board, parent = place, ahead.boards[number], ahead.parents[number]
    corner = (x - BOARD / 2, y - BOARD / 2)
    style: dict[str, Any] = {"edgecolor": _colour(board.score), "linewidth": _width(board.score)}
    axes.add_patch(
        FancyBboxPatch(corner, BOARD, BOARD, "round,pad=0.04,rounding_size=0.08", facecolor="white", zorder=2, **style)
    )
    before = board if parent is None else ahead.boards[parent]
    _draw_board(axes, board.squares, before.squares, corner, ahead.shape)
    axes.text(x, y + BOARD / 2 + 0.12, f"{number}", ha="center", va="center", fontsize=7, color=GREY)
    below = y - BOARD / 2 - 0.17
    axes.text(x, below, _label(board), ha="center", va="center", fontsize=10, fontweight="bold", color=DARK)
    if hidden := ahead.hidden(number):
        axes.text(x, below - 0.17, f"{hidden} more", ha="center", va="center", fontsize=7, color=GREY)


def _label(board: MetBoard) -> str:
    if board.is_end and board.score:
        return "X wins" if board.score > 0 else "O wins"
    return f"{board.score:+.2f}".replace("-", "\N{MINUS SIGN}") if board.score else "0"


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
    note = "below a board: its score, up to +1 for X and \N{MINUS SIGN}1 for O; wider and darker: closer to a win\n"
    note += "above: its number; yellow: the square that changed; 3 more: boards after this one that are not shown"
    axes.text(left + 0.25, bottom + 0.28, note, fontsize=8.5, va="center", color=DARK)
    place = left + 0.25
    for colour, meaning in ((BLUE, "better for X"), (ORANGE, "better for O"), (GREY, "even")):
        axes.add_patch(Rectangle((place, bottom + 0.55), 0.22, 0.1, facecolor=colour, edgecolor="none"))
        axes.text(place + 0.3, bottom + 0.6, meaning, fontsize=8.5, va="center", color=DARK)
        place += 1.5
