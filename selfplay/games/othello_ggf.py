"""Matches of Othello in the Generic Game Format (GGF), in which servers and programs exchange them.

(;GM[Othello]PC[selfplay]PB[black]PW[white]RE[+12]TY[8]BO[8 -----...--- *]B[d3]W[c5]B[pass];)
"""

import re
from collections.abc import Sequence

from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

SIGNS = {1: "*", -1: "O", 0: "-"}
COLOURS = "BW"
MOVE = re.compile(r"(?<![A-Z])[BW]\[([^\]/]*)[^\]]*\]", re.IGNORECASE)
"""A move, after which a program may have written its value and its time."""


def ggf_of(game: BatchStepping, states: Sequence[State], actions: Sequence[int], players: tuple[str, str]) -> str:
    """A match as text.

    Args:
        states: the position (B = 1) before each action, and the last one.
        players: the names of black and white.
    """
    width = game.observation_shape[1]
    board = game.squares(states[0])[0].tolist()
    rows = ["".join(SIGNS[disc] for disc in board[start : start + width]) for start in range(0, len(board), width)]
    black, white = (name.replace("]", ")") for name in players)
    tags = [f"GM[Othello]PC[selfplay]PB[{black}]PW[{white}]", f"RE[{_result(game, states[-1])}]TY[{width}]"]
    tags.append(f"BO[{width} {' '.join(rows)} {'*O'[int(states[0].current_player)]}]")
    moves = [
        f"{COLOURS[int(state.current_player)]}[{game.action_to_string(action)}]"
        for state, action in zip(states, actions, strict=False)
    ]
    return f"(;{''.join(tags + moves)};)\n"


def _result(game: BatchStepping, state: State) -> str:
    """The lead of black at the end; "?" before it."""
    if not bool(state.terminated):
        return "?"
    return f"{int(game.squares(state)[0].sum()):+d}"


def is_ggf(text: str) -> bool:
    """Whether a text is a match in this format."""
    return text.lstrip().startswith("(;")


def moves_of_ggf(text: str) -> str:
    """The moves of a match, with spaces between them."""
    return " ".join(re.sub("^pa$", "pass", move.strip().lower()) for move in MOVE.findall(text))
