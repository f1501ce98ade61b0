"""The stack of the endgame search: the positions on the way to the current one, and those that they lead to."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled
from selfplay.search.threads import Threads, is_marked, is_shared, put_mark

MAX_PLIES = 130
"""At most 64 discs are placed, and there are never two passes in a row."""
MAX_CHILDREN = 64 * 65 // 2


class EndgameFrame(Protocol):
    """One position on the way from the root to the current position, a record of the stack."""

    own: int
    opp: int
    bound: int
    best_value: int
    """The largest value found so far; NO_VALUE at first."""
    best_move: int
    current_move: int
    """The move whose position is being searched."""
    num_untried: int
    num_tried: int
    empties: int
    bucket: int
    """The index of the position's bucket in the table; -1 if it is not stored."""
    mark: int
    """The index of the mark that this thread is searching the position; -1 if there is none."""
    first_child: int
    """The index in the array of children at which the positions after the untried moves begin."""


class Child(Protocol):
    """A position that an untried move leads to, a record of the array of children."""

    own: int
    opp: int
    move: int
    rating: int
    """The rating of the move; the lowest is tried first."""


ENDGAME_FRAME = np.dtype([(name, np.int64) for name in EndgameFrame.__annotations__])
CHILD = np.dtype([(name, np.int64) for name in Child.__annotations__])
Frames = NDArray[np.void]
"""Records of dtype ENDGAME_FRAME."""
Children = NDArray[np.void]
"""Records of dtype CHILD."""


@part_of_compiled
def take_next_child(frame: EndgameFrame, children: Children) -> int:
    """The number of the untried child with the lowest rating, which is moved to the end and removed."""
    first = frame.first_child
    last = first + frame.num_untried - 1
    least = first
    for number in range(first + 1, last + 1):
        if children[number].rating < children[least].rating:
            least = number
    one, other = children[least], children[last]
    one.own, other.own = other.own, one.own
    one.opp, other.opp = other.opp, one.opp
    one.move, other.move = other.move, one.move
    one.rating, other.rating = other.rating, one.rating
    frame.num_untried -= 1
    frame.num_tried += 1
    frame.current_move = other.move
    return last


@part_of_compiled
def descend(frame: EndgameFrame, below: EndgameFrame, children: Children) -> None:
    """Prepare the frame of the next child."""
    number = take_next_child(frame, children)
    below.own, below.opp = children[number].own, children[number].opp
    below.bound = -frame.bound - 1
    # Its children overwrite its record and those after it, which have been tried.
    below.first_child = number


@part_of_compiled
def take_back(frame: EndgameFrame, below: EndgameFrame) -> None:
    """Take the value of a child into account."""
    value = -below.best_value
    if value > frame.best_value:
        frame.best_value, frame.best_move = value, frame.current_move


SHARED_FROM = 11
"""Positions with at least this many empty squares are marked."""
PUT_OFF = 1 << 45
"""Added to the rating of a move that is to be tried after those that no thread is searching."""


@part_of_compiled
def set_mark(frame: EndgameFrame, empties: int, threads: Threads) -> None:
    """Mark a position, if it has enough empty squares."""
    frame.mark = -1
    if empties >= SHARED_FROM and is_shared(threads):
        frame.mark = put_mark(frame.own, frame.opp, threads)


@part_of_compiled
def clear_mark(frame: EndgameFrame, threads: Threads) -> None:
    """Remove the mark of a position."""
    if frame.mark >= 0:
        threads.marks[frame.mark] = 0


@part_of_compiled
def put_off_marked(frame: EndgameFrame, children: Children, threads: Threads) -> None:
    """Rate the untried children that are marked, by any thread, behind all others."""
    if not is_shared(threads):
        return
    for number in range(frame.first_child, frame.first_child + frame.num_untried):
        child = children[number]
        is_put_off = child.rating >= PUT_OFF // 2
        if is_marked(child.own, child.opp, threads) != is_put_off:
            child.rating += -PUT_OFF if is_put_off else PUT_OFF
