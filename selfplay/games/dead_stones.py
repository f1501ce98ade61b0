"""Which stones of Go are dead where both players have passed, so that people need not capture them.

From the position, many matches are played on at random, in which nobody fills their own eyes. A chain is dead if its
crossings are seldom its player's at the end. A chain that its player's opponent cannot capture even if the player
always passes (D. Benson, Life in the game of Go, Information Sciences 10, 1976) is alive whatever the matches say.
"""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games.game import Game
from selfplay.games.state import State

PLAYOUTS = 48
"""The matches that are played on with each colour to move."""
SURVIVAL = 0.5
"""A chain is dead if less than this share of its crossings are its player's at the end, on average."""

Squares = NDArray[np.int8]


def dead_stones(game: Game, state: State, key: int) -> list[int]:
    """The crossings of the dead stones of a position (B = 1) of Go, in ascending order.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
    """
    squares = game.squares(state)[0].numpy().astype(np.int8)
    if not squares.any():
        return []
    width = game.observation_shape[2]
    survival = (owners_after_playouts(game, squares, key) == squares).mean(axis=0)
    alive = pass_alive(squares, width)
    dead: set[int] = set()
    for colour in (1, -1):
        for chain in _groups(np.flatnonzero(squares == colour).tolist(), width):
            if not chain <= alive and float(survival[sorted(chain)].mean()) < SURVIVAL:
                dead |= chain
    return sorted(dead)


def owners_after_playouts(game: Game, squares: Squares, key: int) -> Squares:
    """int8[2 * PLAYOUTS, S]: who owns each crossing at the end of matches played on at random: 1, -1 or 0."""
    width, size = game.observation_shape[2], len(squares)
    starts = [game.set_up(squares.tolist(), to_move) for to_move in (0, 1)]
    rows = torch.arange(2).repeat_interleave(PLAYOUTS)
    state = State(*(torch.cat(fields)[rows] for fields in zip(*starts, strict=True)))
    for ply in range(game.max_game_length):
        if bool(state.terminated.all()):
            break
        own = game.squares(state).numpy() * (1 - 2 * state.current_player.numpy())[:, None]
        free = game.legal_action_mask(state).numpy()[:, :size] & ~_eyes(own, width)
        shares = Draws(key, torch.arange(len(free)), ply).uniforms(Purpose.RANDOM_ACTION).numpy()
        count = free.sum(axis=1)
        ranks = np.floor(shares * count).astype(np.int64)
        chosen = (free.cumsum(axis=1) > ranks[:, None]).argmax(axis=1)
        state = game.step_unchecked(state, torch.from_numpy(np.where(count > 0, chosen, size)))
    ends = game.squares(state).numpy().astype(np.int8)
    return ends + _eyes(ends, width).astype(np.int8) - _eyes(-ends, width).astype(np.int8)


def _eyes(own: NDArray[np.integer], width: int) -> NDArray[np.bool_]:
    """bool[B, S]: the empty crossings beside which are only own stones (1), and in whose corners are few others (-1).

    In the middle of the board one of the four corners may have another stone, at the edge none.
    """
    boards = np.pad(own.reshape(-1, width, width), ((0, 0), (1, 1), (1, 1)), constant_values=2)
    beside = [boards[:, 1:-1, :-2], boards[:, 1:-1, 2:], boards[:, :-2, 1:-1], boards[:, 2:, 1:-1]]
    corners = np.stack([boards[:, row : row + width, column : column + width] for row in (0, 2) for column in (0, 2)])
    is_enclosed = np.logical_and.reduce([(one == 1) | (one == 2) for one in beside])
    others, is_at_edge = (corners == -1).sum(axis=0), (corners == 2).any(axis=0)
    found = (boards[:, 1:-1, 1:-1] == 0) & is_enclosed & (others + is_at_edge < 2)
    return found.reshape(len(own), -1)


def pass_alive(squares: Squares, width: int) -> set[int]:
    """The crossings of the chains that cannot be captured even if their player always passes."""
    found: set[int] = set()
    for colour in (1, -1):
        chains = _groups(np.flatnonzero(squares == colour).tolist(), width)
        regions = _groups(np.flatnonzero(squares != colour).tolist(), width)
        empty = [{square for square in region if squares[square] == 0} for region in regions]
        size = 0
        while size != len(chains):
            size, borders = len(chains), [_beside(chain, width) for chain in chains]
            vital = [sum(bool(one) and one <= border for one in empty) for border in borders]
            chains = [chain for chain, number in zip(chains, vital, strict=True) if number >= 2]
            safe = set[int]().union(*chains)
            stones = {square for square in np.flatnonzero(squares == colour).tolist() if square not in safe}
            kept = [number for number, region in enumerate(regions) if not _beside(region, width) & stones]
            regions, empty = [regions[number] for number in kept], [empty[number] for number in kept]
        found |= set[int]().union(*chains)
    return found


def _groups(squares: Iterable[int], width: int) -> list[set[int]]:
    """The squares in groups that are connected along lines."""
    left, groups = set(squares), list[set[int]]()
    while left:
        group, waiting = set[int](), {left.pop()}
        while waiting:
            group |= waiting
            left -= waiting
            waiting = _beside(waiting, width) & left
        groups.append(group)
    return groups


def _beside(squares: Iterable[int], width: int) -> set[int]:
    """The squares beside these, which may contain some of them."""
    return {
        width * (row + down) + column + right
        for row, column in (divmod(square, width) for square in squares)
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0))
        if 0 <= row + down < width and 0 <= column + right < width
    }
