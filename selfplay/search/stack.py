"""The stack of a compiled search: one record for each position on the way from the root to the current position."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled


class Frame(Protocol):
    """One position on the way from the root to the current position, read and written by compiled code."""

    own: int
    opp: int
    alpha: float
    beta: float
    best: float
    """The largest value found so far, -inf at first; the value of the position once all moves are tried."""
    best_move: int
    """The move with that value, as a word; 0 for a pass."""
    num_moves: int
    """Number of moves; 0 where the value is known without trying them."""
    num_tried: int
    low: float
    """The value that the child being searched must exceed to matter."""
    is_scouted: int
    """1 if the child is being searched with a null window, else 0."""
    is_open: int
    """1 if the value may rest on the evaluation of an unfinished position, so that a deeper search may change it."""
    mark: int
    """The index of its mark (see `selfplay.search.threads`), or -1 if it has none."""


FRAME = np.dtype([(name, np.float64 if kind is float else np.int64) for name, kind in Frame.__annotations__.items()])


class Stack(NamedTuple):
    """The memory of a search to depth D, one row per ply."""

    frames: NDArray[np.void]
    """D + 1 records of dtype FRAME."""
    moves: NDArray[np.int64]
    """int64[D + 1, 64]: the moves of each position, in the order in which they are tried."""
    ranks: NDArray[np.float64]
    """float64[64]: the rank of each move of the position whose moves are being ordered."""
    lines: NDArray[np.int64]
    """int64[D + 1, D + 2]: row p holds, from column p on, the best actions found from ply p; -1 after the last."""


def make_stack(depth: int) -> Stack:
    """A stack for searches to this depth. Searches that run at the same time each need their own."""
    moves, ranks = np.zeros((depth + 1, 64), dtype=np.int64), np.zeros(64)
    lines = np.full((depth + 1, depth + 2), -1, dtype=np.int64)
    return Stack(np.zeros(depth + 1, dtype=FRAME), moves, ranks, lines)


@part_of_compiled
def begin(frame: Frame, own: int, opp: int) -> None:
    """Prepare the frame of the root."""
    frame.own, frame.opp = own, opp
    frame.alpha, frame.beta = -np.inf, np.inf
    frame.best_move = 0


@part_of_compiled
def write_line(lines: NDArray[np.int64], ply: int, action: int) -> None:
    """Set the best line from `ply` to this action followed by the best line from the next ply."""
    lines[ply, ply] = action
    column = ply
    while lines[ply, column] != -1:
        column += 1
        lines[ply, column] = lines[ply + 1, column]
