"""What people read of actions that have no text but their number: the squares that they change, "a3 to b4"."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.games.board_squares import BoardSquares
from selfplay.games.clicked_squares import Contents, changes, stones_in

MOST_NAMED = 4
"""The most squares of an action that are named; one that changes more is known by its number."""


class NamedSquares(NamedTuple):
    """The squares by which people know an action."""

    left: list[int]
    """Those that stones of the player who acts leave."""
    placed: list[int]
    """Those to which they go, or which the action changes if it does nothing else."""
    marked: list[int]
    """Those without a stone whose marks change, such as the square of an arrow."""


def named_squares(
    before: Contents, after: Contents, seats: NDArray[np.int64], *, has_stones: bool
) -> list[NamedSquares]:
    """The squares of N actions that change boards (int64[N, S]) in this way, none if they are too many. Without
    stones, marks that leave a square are moved."""
    boards = (stones_in(before), stones_in(after)) if has_stones else (before, after)
    left, placed, _ = changes(*boards, seats)
    changed = before != after
    found = list[NamedSquares]()
    for row in range(len(before)):
        from_here, to = np.flatnonzero(left[row]).tolist(), np.flatnonzero(placed[row]).tolist()
        marked = list[int]()
        if has_stones:
            marked = np.flatnonzero(changed[row] & (after[row] != 0) & (stones_in(after[row]) == 0)).tolist()
        elif not from_here:
            to, marked = [], to
        if not from_here and not to and not marked:
            to = np.flatnonzero(changed[row]).tolist()
        is_few = len(from_here) + len(to) + len(marked) <= MOST_NAMED
        found.append(NamedSquares(from_here, to, marked) if is_few else NamedSquares([], [], []))
    return found


def squares_in_words(show: BoardSquares, before: Contents, after: Contents, seats: NDArray[np.int64]) -> list[str]:
    """The names of the squares of N actions; empty where the board does not show what an action does."""
    texts = [*show.shown_marks.values()]

    def names(squares: list[int]) -> str:
        return " and ".join(map(show.square_name, squares))

    def marked(square: int, content: int) -> str:
        marks = " and ".join(text for number, text in enumerate(texts) if content // 3 >> number & 1)
        return f"{marks} {show.square_name(square)}"

    found = named_squares(before, after, seats, has_stones=show.game.has_stones)
    return [
        ", ".join(
            filter(
                None,
                [
                    " to ".join(filter(None, [names(one.left), names(one.placed)])),
                    *(marked(square, int(contents[square])) for square in one.marked),
                ],
            )
        )
        for one, contents in zip(found, after, strict=True)
    ]
