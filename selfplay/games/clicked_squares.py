"""The squares by which a person takes an action, found in random positions, where a game does not say them.

A move is taken by the square that a stone leaves and then by the one to which it goes, a stone or a mark that is placed
by its square, and one that is taken away by that. Where stones fall or are pushed, every square of a row or a column
that only one action changes takes this action. All other actions, such as a swap of sides, have no squares.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Contents = NDArray[np.int64]
"""int64[N, S]: what is on each square: 1 for a stone of player 0, -1 for one of player 1, and 3 times its marks."""
MOST_PLACED = 2
"""The most stones and marks that an action may place, to be taken by a click on any of their squares."""


class Changes(NamedTuple):
    """What actions change on the board, bool[N, S] each."""

    left: NDArray[np.bool_]
    """Squares that stones of the player who acts, or marks without a stone, leave."""
    placed: NDArray[np.bool_]
    """Squares on which such stones or marks are then: those that were empty, or if there are none, those that were
    not."""
    changed: NDArray[np.bool_]


class ClickedSquares(NamedTuple):
    """The squares by which actions are taken, as far as they are the same in all positions."""

    squares: list[list[int]]
    """Of each action; none: it has none in any position, if it is known."""
    is_known: list[bool]
    """Whether each action is legal in some of the random positions."""
    moves_stones: bool
    """Whether some actions move a stone from one square to another. Then an action with two squares does so."""


class Placed(NamedTuple):
    """What an action puts on the board."""

    square: int | None
    """The one of the squares that select it on which it puts a stone or a mark; None if on none."""
    content: int | None
    """What is then on that square; None if the action also places or takes away something else of the player, apart
    from the stone that a move takes from its other square."""


def stones_in(contents: Contents) -> Contents:
    """The stones of these contents, without marks: 1, -1 or 0."""
    return contents - 3 * ((contents + 1) // 3)


def changes(before: Contents, after: Contents, seats: NDArray[np.int64]) -> Changes:
    """What actions of these seats (int64[N], 0 or 1) change."""
    signs = 1 - 2 * seats[:, None]

    def held(contents: Contents) -> NDArray[np.bool_]:
        stones = stones_in(contents)
        is_held: NDArray[np.bool_] = np.where(stones == 0, contents != 0, stones == signs)
        return is_held

    placed = held(after) & ~held(before)
    on_empty = placed & (before == 0)
    placed = np.where(on_empty.any(axis=1, keepdims=True), on_empty, placed)
    return Changes(held(before) & ~held(after), placed, before != after)


def clicked_squares(
    done: Changes, actions: NDArray[np.int64], shape: tuple[int, int], num_actions: int
) -> ClickedSquares:
    """The squares of the actions (int64[N]) that have made these changes on a board of this shape."""
    order = np.argsort(actions, kind="stable")
    legal, first = np.unique(actions[order], return_index=True)
    left, placed, changed = (np.logical_and.reduceat(one[order], first) for one in done)
    ever_left, ever_placed, _ = (np.logical_or.reduceat(one[order], first) for one in done)
    moves = bool((left.any(axis=1) & ever_placed.any(axis=1)).any())
    squares = [list[int]() for _ in range(num_actions)]
    for row, action in enumerate(legal.tolist()):
        from_here, to = np.flatnonzero(left[row]).tolist(), np.flatnonzero(placed[row]).tolist()
        if len(from_here) == 1:
            squares[action] = from_here + (to if len(to) == 1 else [])
        elif not from_here and to:
            squares[action] = to if len(to) <= (1 if moves else MOST_PLACED) else []
        elif not from_here and not ever_placed[row].any() and changed[row].sum() == 1:
            squares[action] = np.flatnonzero(changed[row]).tolist()
    is_open = np.array([not squares[action] for action in legal.tolist()]) & ~ever_left.any(axis=1)
    in_line = [row for row in np.flatnonzero(is_open).tolist() if _is_in_line(ever_placed[row].reshape(shape))]
    for row in in_line:
        if not (ever_placed[row] & (ever_placed[in_line].sum(axis=0) > 1)).any():
            squares[legal[row]] = np.flatnonzero(ever_placed[row]).tolist()
    return ClickedSquares(squares, np.isin(np.arange(num_actions), legal).tolist(), moves)


def _is_in_line(squares: NDArray[np.bool_]) -> bool:
    """Whether there are such squares on a board (bool[rows, columns]), all of them in one row or one column."""
    return any(int(squares.any(axis=axis).sum()) == 1 for axis in (0, 1))


def squares_in_position(found: ClickedSquares, actions: Sequence[int], done: Changes) -> list[list[int]]:
    """The squares of actions that make these changes: the target of a move can depend on the position."""
    squares = [found.squares[action] for action in actions]
    for row, (action, usual) in enumerate(zip(actions, squares, strict=True)):
        left, placed = np.flatnonzero(done.left[row]).tolist(), np.flatnonzero(done.placed[row]).tolist()
        is_new, most = not found.is_known[action], 1 if found.moves_stones else MOST_PLACED
        if len(left) == 1 and (is_new or left[0] in usual):
            squares[row] = left + (placed if len(placed) == 1 else [])
        elif not left and len(placed) <= most and (is_new or (usual and not {*placed} <= {*usual})):
            squares[row] = placed
    return squares


def placed_in_position(
    pointed: Sequence[list[int]],
    before: Contents,
    after: Contents,
    seats: NDArray[np.int64],
    *,
    moves_stones: bool,
) -> list[Placed]:
    """What actions that these squares select, N lists, put on the board."""
    left, placed, _ = changes(before, after, seats)
    found = list[Placed]()
    for row, squares in enumerate(pointed):
        square = next((one for one in squares if before[row, one] != after[row, one] != 0), None)
        others = [one for one in squares if moves_stones and one != square]
        is_all = (
            np.flatnonzero(placed[row]).tolist() == [square]
            and {*np.flatnonzero(left[row]).tolist()} == {*others}
            and not after[row, others].any()
        )
        found.append(Placed(square, int(after[row, square]) if square is not None and is_all else None))
    return found
