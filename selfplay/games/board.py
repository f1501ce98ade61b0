"""The board of a position as a picture or as text."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.errors import SettingError, shortened
from selfplay.games import Game, make_game
from selfplay.games.presentation import SIGNS
from selfplay.games.state import State

CELL = 44
SIGN_COLOURS = {"X": "#1f5fa8", "O": "#b4472b"}
LIGHT, DARK = "#f2efe6", "#c9c2b2"
"""The colours of squares; those of the board are dark if there are others, as in draughts."""
WOOD, LINE = "#e6bd72", "#5d4114"
"""The colours of a board with crossings."""
DISC_COLOURS = {"black": "#222222", "white": "#fafafa", "red": "#c8402f", "yellow": "#e8b92c"}


class Board:
    """The board of a position, which a notebook shows as a picture, with a value on the square of each action.

    `str` gives the board as text. A match that can be played on is a `Match`.

    Args:
        game: the game, or its name.
        state: a batch of positions; None: the start of the game.
        row: which of them it is.
        values: float32[A], the value to show of each action; nan where there is none.

    Raises SettingError if there is no such match, or not a value for each action.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> print(selfplay.Board(game, game.state_after(["1,1", "0,1"])))
        . O .
        . X .
        . . .
    """

    def __init__(
        self,
        game: Game | str,
        state: State | None = None,
        row: int = 0,
        values: "Tensor | NDArray[np.floating[Any]] | Sequence[float] | None" = None,
    ) -> None:
        self.game = make_game(game)
        state = self.game.init() if state is None else state
        if not isinstance(state, State):
            raise SettingError(f"state={shortened(repr(state))}: must be a State")
        if row not in range(-state.batch_size, state.batch_size):
            raise SettingError(
                f"row={shortened(repr(row))}: must be a match of the state, which has {state.batch_size}"
            )
        self.state = state.select(torch.tensor([row]))
        self.values = None if values is None else np.asarray(values, np.float32)
        if self.values is not None and self.values.shape != (actions := self.game.num_distinct_actions,):
            raise SettingError(f"values: must be {actions} numbers, one for each action")

    def __repr__(self) -> str:
        return f"<Board of {self.game.name}>\n{self}"

    def __str__(self) -> str:
        """The board as text."""
        return self.game.presentation.board_text(self.state, values=self.values)

    def _repr_html_(self) -> str:
        """The picture; the text for a game without squares."""
        return f"<pre>{escape(str(self))}</pre>" if self.game.board_shape is None else self.svg()

    def svg(self) -> str:
        """The board as an SVG picture. The game must have squares."""
        shape = self.game.board_shape
        if shape is None:
            raise SettingError(f"{self.game.name} has no board of squares")
        show = self.game.presentation
        width, height = CELL * shape[1] + (CELL // 2 * (shape[0] - 1) if show.is_rhombus else 0), CELL * shape[0]
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{escape(str(self))}</title>']
        parts += self._crossings(*shape) if show.is_on_crossings else self._squares()
        texts = self._value_texts()
        stones, marks = self.game.squares(self.state)[0].tolist(), show.marks(self.state)[0].tolist()
        for square, (stone, mark) in enumerate(zip(stones, marks, strict=True)):
            if mark and show.draws_lines:
                parts.append(self._line(square, square % shape[1] % 2 == 1))
            elif stone:
                parts.append(self._stone(SIGNS[stone], *self._middle(square), show.signs_of_mark(mark)))
            elif square in texts:
                parts.append(self._value(texts[square], *self._middle(square)))
            elif mark:
                parts.append(_text(show.signs_of_mark(mark), *self._middle(square), size=18, colour="#888"))
        return "".join([*parts, "</svg>"])

    def _middle(self, square: int) -> tuple[int, int]:
        show, (row, column) = self.game.presentation, divmod(square, self.game.observation_shape[2])
        return CELL * column + CELL // 2 + (CELL // 2 * row if show.is_rhombus else 0), CELL * row + CELL // 2

    def _squares(self) -> list[str]:
        """The squares of the board; dots in a game that draws lines. The cells of a rhombus are shifted like bricks."""
        show, columns = self.game.presentation, self.game.observation_shape[2]
        middles = [(square, *self._middle(square)) for square in range(self.game.num_squares or 0)]
        if show.draws_lines:
            dots = [(x, y) for square, x, y in middles if square // columns % 2 == square % columns % 2 == 0]
            return [f'<circle cx="{x}" cy="{y}" r="5" fill="#333"/>' for x, y in dots]
        places, size = [(x - CELL // 2, y - CELL // 2) for _, x, y in middles], f'width="{CELL}" height="{CELL}"'
        dark = {square for square, *_ in middles if show.unused_squares and square not in show.unused_squares}
        return [
            f'<rect x="{left}" y="{top}" {size} fill="{DARK if square in dark else LIGHT}" stroke="#9a958a"/>'
            for square, (left, top) in enumerate(places)
        ]

    def _line(self, square: int, is_across: bool) -> str:
        """The line between two dots."""
        x, y = self._middle(square)
        way = f"M{x - CELL} {y}H{x + CELL}" if is_across else f"M{x} {y - CELL}V{y + CELL}"
        return f'<path d="{way}" stroke="#333" stroke-width="5" stroke-linecap="round"/>'

    def _crossings(self, rows: int, columns: int) -> list[str]:
        """The lines on whose crossings stones stand, and the points that are marked on them."""
        first, right, down = CELL // 2, CELL * columns - CELL // 2, CELL * rows - CELL // 2
        show = self.game.presentation
        lines = ["M{} {}L{} {}".format(*self._middle(one), *self._middle(other)) for one, other in show.joined_squares]
        if not lines:
            lines = [f"M{first} {CELL * row + first}H{right}" for row in range(rows)]
            lines += [f"M{CELL * column + first} {first}V{down}" for column in range(columns)]
        stars = map(self._middle, show.star_points)
        return [
            f'<rect width="{CELL * columns}" height="{CELL * rows}" fill="{WOOD}"/>',
            f'<path d="{"".join(lines)}" fill="none" stroke="{LINE}" stroke-linecap="square"/>',
            *(f'<circle cx="{x}" cy="{y}" r="4" fill="{LINE}"/>' for x, y in stars),
        ]

    def _value_texts(self) -> dict[int, str]:
        """The value to write on each square: the value of the action that places a stone there."""
        if self.values is None:
            return {}
        actions: list[int] = np.flatnonzero(np.isfinite(self.values)).tolist()
        squares = self.game.presentation.placed_squares(self.state, actions)
        pairs = zip(squares, actions, strict=True)
        return {square: f"{self.values[action]:+.2f}" for square, action in pairs if square is not None}

    def _value(self, text: str, x: int, y: int) -> str:
        """A value; on a crossing, it covers the lines."""
        cover = f'<rect x="{x - 18}" y="{y - 9}" width="36" height="18" rx="5" fill="{WOOD}"/>'
        return (cover if self.game.presentation.is_on_crossings else "") + _text(text, x, y)

    def _stone(self, sign: str, x: int, y: int, marks: str) -> str:
        """A stone with its marks: letters on a disc, or in the place of X or O."""
        colours = self.game.presentation.stone_colours
        if colours is not None:
            colour = DISC_COLOURS[colours["XO".index(sign)]]
            disc = f'<circle cx="{x}" cy="{y}" r="{CELL * 2 // 5}" fill="{colour}" stroke="#555"/>'
            return disc + (_text(marks, x, y, size=18, colour="#888") if marks else "")
        return _text(marks or sign, x, y, size=26, colour=SIGN_COLOURS[sign])


def _text(text: str, x: int, y: int, *, size: int = 12, colour: str = "#333") -> str:
    """An SVG text around a point."""
    middle = 'text-anchor="middle" dominant-baseline="central" font-family="sans-serif"'
    return f'<text x="{x}" y="{y}" {middle} font-size="{size}" fill="{colour}">{escape(text)}</text>'
