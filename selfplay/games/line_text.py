"""A line of play as text: its boards side by side."""

from collections.abc import Sequence
from itertools import zip_longest

import torch

from selfplay.games.game import Game

LINE_WIDTH = 100
GAP = "    "


def draw_line(game: Game, actions: Sequence[int]) -> str:
    """The boards of a match after each of `actions`, side by side, each headed by its action."""
    state = game.init()
    columns: list[list[str]] = []
    for action in actions:
        state = game.step(state, torch.tensor([action]))
        columns.append(
            [f"{len(columns) + 1}. {game.action_to_string(action)}", *game.presentation.board_text(state).splitlines()]
        )
    width = max(len(text) for column in columns for text in column)
    per_row = max(1, (LINE_WIDTH + len(GAP)) // (width + len(GAP)))
    rows = []
    for start in range(0, len(columns), per_row):
        texts = zip_longest(*columns[start : start + per_row], fillvalue="")
        rows.append("\n".join(GAP.join(f"{text:{width}}" for text in line).rstrip() for line in texts))
    return "\n\n".join(rows)
