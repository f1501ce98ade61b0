"""What a negamax search remembers while it runs, written and read by compiled code."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, part_of_compiled
from selfplay.search.evaluation import EvaluationParameters
from selfplay.search.threads import STOP, Threads
from selfplay.search.transposition_table import Table

POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag."""


class Ahead(NamedTuple):
    """The next positions without plies left, valued together before they are visited; at most AT_ONCE."""

    positions: Words
    values: NDArray[np.float64]
    pending: NDArray[np.int64]
    """int64[2]: the place of the next one, and their number; equal where there are none."""


class NegamaxSearch(NamedTuple):
    """What is the same for all positions of a search to depth D. Searches at the same time each need their own."""

    depth: int
    algorithm: int
    """The number of the algorithm in ALGORITHMS."""
    min_scout_depth: int
    """The smallest number of plies left at which NegaScout uses null windows; not used where only one is left."""
    ordered: bool
    clears_table: bool
    """Whether each position of a batch is searched with an empty table. Cuts of ProbCut in the table, left by the
    searches of other positions, would change the result."""
    reply_value: float
    """That of the evaluation."""
    sooner: float
    """The preference for the sooner of two wins; 0 where points are counted, and speed does not matter."""
    window: float
    """Half the width of the first window; 0: none."""
    predicted: NDArray[np.float64]
    """float64[B]: the values around which it is; nan: that of a shallower search."""
    parameters: EvaluationParameters
    table: Table
    """Minimax does not use it."""
    probing: Any
    """A `selfplay.search.probcut.Probing`; 0 in a search without cuts."""
    threads: Threads
    actions: NDArray[np.int64]
    """int64[D + 1, A]: row l holds the actions of the position with l plies left, in the order in which they are tried.
    """
    following: Words
    """[D + 1, A]: row l > 1 holds the packed positions that these actions lead to."""
    ranks: NDArray[np.float64]
    """float64[A]: the rank of each action of the position whose actions are being ordered."""
    lines: NDArray[np.int64]
    """int64[D + 1, D + 2], at first -1: row l holds the best actions found from the position with l plies left, then
    -1."""
    killers: NDArray[np.int64]
    """int64[D + 1]: the action that has last cut off a position with each number of plies left, or NO_ACTION."""
    ahead: Ahead
    work: NDArray[np.int64]
    """int64[2]: [VISITED] the number of positions visited; [STOPPED] 1 once the search is stopped."""


VISITED, STOPPED = range(2)


@part_of_compiled
def count_visit(search: NegamaxSearch) -> None:
    """Count a visited position, and check from time to time whether the search is stopped or has been finished."""
    work, threads = search.work, search.threads
    work[VISITED] += 1
    if work[VISITED] % POLL_INTERVAL == 0:
        work[STOPPED] |= int(threads.stop[STOP] != 0 or threads.finished[0] != 0)


@part_of_compiled
def write_line(lines: NDArray[np.int64], left: int, action: int) -> None:
    """Set the best line with `left` plies left to this action, followed by the best line of the next position."""
    lines[left, 0] = action
    column = 0
    while lines[left, column] != -1:
        column += 1
        lines[left, column] = lines[left - 1, column - 1]
