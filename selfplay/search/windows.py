"""The windows of values in which minimax, alpha-beta and NegaScout search; in all else the three are the same.

A position passes the window `(alpha, beta)` of values that matter on to the positions that follow it:

    minimax     (-inf, inf): every value matters
    alpha-beta  (-beta, -low), where low is the best value found so far (Knuth & Moore, "An analysis of alpha-beta
                pruning", 1975)
    NegaScout   the same for the first move. For the others first a null window just above low, which only tests
                whether the move is better; if it is, the move is searched again with the full window (Reinefeld, "An
                improvement to the Scout tree-search algorithm", 1983)
"""

from enum import IntEnum

import numpy as np

from selfplay.compute.compilation import part_of_compiled
from selfplay.search.stack import Frame


class Algorithm(IntEnum):
    """The three searches. They find the same values and actions."""

    MINIMAX = 0
    ALPHA_BETA = 1
    NEGASCOUT = 2


MINIMAX, NEGASCOUT = int(Algorithm.MINIMAX), int(Algorithm.NEGASCOUT)


@part_of_compiled
def open_window(algorithm: int, frame: Frame, child: Frame) -> None:
    """Set the window of the next child to be searched, from `frame.low` and `frame.is_scouted`."""
    if algorithm == MINIMAX:
        child.alpha, child.beta = -np.inf, np.inf
    elif frame.is_scouted != 0:
        child.alpha, child.beta = -np.nextafter(frame.low, np.inf), -frame.low
    else:
        child.alpha, child.beta = -frame.beta, -frame.low


@part_of_compiled
def reopens_window(frame: Frame, child: Frame) -> bool:
    """Whether the child must be searched again: the null window has shown only that it is better than `low`.

    If so, its new window begins just below what the first search has proved.
    """
    score = -child.best
    if frame.is_scouted == 0 or not frame.low < score < frame.beta:
        return False
    frame.is_scouted = 0
    child.alpha, child.beta = -frame.beta, -np.nextafter(score, -np.inf)
    return True
