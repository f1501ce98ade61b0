"""Boards as text for a terminal: values in colour, boards side by side."""

import os
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TextIO

from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.playing.session import Values

GAP = "    "

VALUE = re.compile(r"[+-]\d+\.\d\d")
"""The format of a value in the boards of all games."""

BOLD, RED, GREEN, PLAIN = "1", "31", "32", "0"


def supports_colour(stream: TextIO) -> bool:
    """Whether to use colour: on a terminal that supports it, unless NO_COLOR (no-color.org) is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def boards_side_by_side(
    game: Game, state: State, columns: Sequence[tuple[str, Values]], *, colour: bool = False
) -> str:
    """The board with each of these values, side by side under their headings."""
    texts = [[heading, *game.presentation.board_text(state, 0, values).splitlines()] for heading, values in columns]
    widths = [max(map(len, lines)) for lines in texts]
    rows = []
    for row in zip_longest(*texts, fillvalue=""):
        cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)]
        # Padded before colouring, because colour codes have no width on the screen.
        cells[-1] = cells[-1].rstrip()
        rows.append(
            GAP.join(_coloured(c, v) if colour else c for c, (_, v) in zip(cells, columns, strict=True)).rstrip()
        )
    return "\n".join(rows)


def _coloured(text: str, values: Values) -> str:
    """`text` with its values in colour: positive ones green, negative ones red, the best bold."""
    best = f"{max((v for v in values.tolist() if v == v), default=0.0):+.2f}"

    def coloured(match: re.Match[str]) -> str:
        number = float(match[0])
        codes = [BOLD] * (match[0] == best) + [GREEN] * (number > 0) + [RED] * (number < 0)
        return f"\x1b[{';'.join(codes)}m{match[0]}\x1b[{PLAIN}m" if codes else match[0]

    return VALUE.sub(coloured, text)
