"""A position as a picture for notebooks, and as text elsewhere."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.errors import SettingError, shortened
from selfplay.games import Game, make_game
from selfplay.games.state import State

CELL = 44
SIGN_COLOURS = {"X": "#1f5fa8", "O": "#b4472b"}
WOOD, LINE = "#e6bd72", "#5d4114"
"""The colours of a board with crossings."""
DISC_COLOURS = {"black": "#222222", "white": "#fafafa", "red": "#c8402f", "yellow": "#e8b92c"}


class Board:
    """One match of a state, drawn.

    A notebook shows it as a picture, with a value on the square of each action; `str` gives the board as text.

    Args:
        game: the game of the match, or its name.
        state: a batch of matches.
        row: which of them is drawn.
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
        state: State,
        row: int = 0,
        values: "Tensor | NDArray[np.floating[Any]] | Sequence[float] | None" = None,
    ) -> None:
        self.game, self.state, self.row = make_game(game), state, row
        if not isinstance(state, State):
            raise SettingError(f"state={shortened(repr(state))}: must be a State")
        if row not in range(-state.batch_size, state.batch_size):
            raise SettingError(
                f"row={shortened(repr(row))}: must be a match of the state, which has {state.batch_size}"
            )
        self.values = None if values is None else np.asarray(values, np.float32)
        if self.values is not None and self.values.shape != (actions := self.game.num_distinct_actions,):
            raise SettingError(f"values: must be {actions} numbers, one for each action")

    def __repr__(self) -> str:
        return f"<Board of {self.game.name}>\n{self}"

    def __str__(self) -> str:
        """The board as text."""
        return self.game.presentation.board_text(self.state, self.row, self.values)

    def _repr_html_(self) -> str:
        """The picture; the text for a game without squares."""
        return f"<pre>{escape(str(self))}</pre>" if self.game.board_shape is None else self.svg()

    def svg(self) -> str:
        """The board as an SVG picture. The game must have squares."""
        shape = self.game.board_shape
        if shape is None:
            raise SettingError(f"{self.game.name} has no board of squares")
        rows, columns = shape
        signs = self.game.presentation.stone_signs(self.state, self.row)
        texts = self._value_texts()
        size = f'width="{columns * CELL}" height="{rows * CELL}" viewBox="0 0 {columns * CELL} {rows * CELL}"'
        title = escape(str(self))
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{title}</title>']
        parts += self._crossings(rows, columns) if self.game.presentation.is_on_crossings else _squares(rows, columns)
        for square, sign in enumerate(signs):
            middle = _middle(square, columns)
            if sign in SIGN_COLOURS:
                parts.append(self._stone(sign, *middle))
            elif square in texts:
                parts.append(self._value(texts[square], *middle))
        return "".join([*parts, "</svg>"])

    def _crossings(self, rows: int, columns: int) -> list[str]:
        """The lines on whose crossings stones stand, and the points that are marked on them."""
        first, right, down = CELL // 2, CELL * columns - CELL // 2, CELL * rows - CELL // 2
        lines = [f"M{first} {CELL * row + first}H{right}" for row in range(rows)]
        lines += [f"M{CELL * column + first} {first}V{down}" for column in range(columns)]
        stars = (_middle(square, columns) for square in self.game.presentation.star_points)
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
        single = self.state.select(torch.tensor([self.row]))
        squares = self.game.presentation.placed_squares(single, actions)
        pairs = zip(squares, actions, strict=True)
        return {square: f"{self.values[action]:+.2f}" for square, action in pairs if square is not None}

    def _value(self, text: str, x: int, y: int) -> str:
        """A value; on a crossing, it covers the lines."""
        cover = f'<rect x="{x - 18}" y="{y - 9}" width="36" height="18" rx="5" fill="{WOOD}"/>'
        return (cover if self.game.presentation.is_on_crossings else "") + _text(text, x, y)

    def _stone(self, sign: str, x: int, y: int) -> str:
        colours = self.game.presentation.stone_colours
        if colours is not None:
            colour = DISC_COLOURS[colours["XO".index(sign)]]
            return f'<circle cx="{x}" cy="{y}" r="{CELL * 2 // 5}" fill="{colour}" stroke="#555"/>'
        return _text(sign, x, y, size=26, colour=SIGN_COLOURS[sign])


def _squares(rows: int, columns: int) -> list[str]:
    corners = ((CELL * column, CELL * row) for row in range(rows) for column in range(columns))
    style = f'width="{CELL}" height="{CELL}" fill="#f2efe6" stroke="#9a958a"'
    return [f'<rect x="{left}" y="{top}" {style}/>' for left, top in corners]


def _middle(square: int, columns: int) -> tuple[int, int]:
    row, column = divmod(square, columns)
    return CELL * column + CELL // 2, CELL * row + CELL // 2


def _text(text: str, x: int, y: int, *, size: int = 12, colour: str = "#333") -> str:
    """An SVG text around a point."""
    middle = 'text-anchor="middle" dominant-baseline="central" font-family="sans-serif"'
    return f'<text x="{x}" y="{y}" {middle} font-size="{size}" fill="{colour}">{escape(text)}</text>'
