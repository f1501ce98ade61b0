"""Which squares each action touches, found in random positions: where it takes, places or changes something.

An action touches a square if it changes it whenever it is legal, such as the squares from which and to which it moves a
stone; if there is none, as where stones drop into columns, the squares that it changes in some position.
"""

from itertools import permutations
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.positions import Packed, field_values
from selfplay.compute.words import PART_BITS
from selfplay.games.board_images import is_on_squares
from selfplay.games.image_actions import rows_with_every_action
from selfplay.games.random_positions import random_positions
from selfplay.games.rules import Rules
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

PARTNERS = {"own": "opp", "opp": "own"}
TIMES_SEEN = 32
"""In how many of the random positions each action is tried, if it is legal in so many."""
MOST_CONTENTS = 1 << 24
"""About the most contents of squares that are compared."""
MOST_PAIRED = 6
"""The most fields that are compared in every way to find which of them players exchange."""


class TouchedSquares(NamedTuple):
    """The squares that each of A actions touches, on a board of S squares.

    A role is what happens on a square: which field of the player to move loses or gains something there.
    """

    num_roles: int
    """R."""
    places: NDArray[np.int64]
    """int64[A, K]: S * role + square of each touched square, then R * S where there are fewer than K."""
    kinds: NDArray[np.int64]
    """int64[A]: numbers actions that touch the same squares in the same roles, from 0."""

    @property
    def num_kinds(self) -> int:
        return int(self.kinds.max()) + 1


def touched_squares(game: BatchStepping, max_game_length: int) -> TouchedSquares | None:
    """The squares that the actions of a game touch; None if it has no board of squares.

    Actions that are legal in none of the random positions touch no squares. Raises RuleError if a rule fails.
    """
    squares = prod(game.observation_shape[1:])
    fields = [place for place in game.rules.position.places if is_on_squares(place, squares)]
    if len(game.observation_shape) != 3 or not fields:
        return None
    state, actions = tried_actions(game, max_game_length, len(fields) * squares)
    following = game.kernels.step(state, actions)
    before, after = (_contents(game.rules.position, one.position.numpy(), squares) for one in (state, following))
    has_turned = (following.current_player != state.current_player).numpy()
    partners = _exchanged(before[:, has_turned], after[:, has_turned])
    after = np.where(has_turned[:, None], after[partners], after)
    changes = np.concatenate([after < before, after > before])
    return _touched(changes, actions.numpy(), game.num_distinct_actions)


def tried_actions(game: BatchStepping, max_game_length: int, entries: int) -> tuple[State, Tensor]:
    """Random positions, and the legal action (int64[N]) that is tried in each: every one several times, if it is legal
    so often.

    Args:
        entries: the numbers that are compared for each; there are at most about MOST_CONTENTS of them together.
    """
    positions = random_positions(game, max_game_length)
    tried = torch.tensor(rows_with_every_action(positions.mask.numpy(), TIMES_SEEN))
    rows, actions = positions.mask[tried].nonzero(as_tuple=True)
    most = MOST_CONTENTS // entries
    rows = torch.cat([torch.arange(len(positions.action)), tried[rows]])[:most]
    actions = torch.cat([positions.action, actions])[:most]
    return positions.state.select(rows), actions


def actions_are_squares(game: BatchStepping) -> bool:
    """Whether action i is on square i of the board, and there are fewer others, such as a pass.

    It is tried uncompiled with the actions that are legal at the start.
    """
    squares = prod(game.observation_shape[1:])
    if len(game.observation_shape) != 3 or not squares <= game.num_distinct_actions < 2 * squares:
        return False
    legal = int(game.rules.legal_actions(game.rules.initial))
    return all(_changes(game.rules, action, squares) for action in range(squares) if legal >> action & 1)


def _changes(rules: Rules, action: int, squares: int) -> bool:
    """Whether an action at the start changes the square of its number."""
    start, after = rules.initial, rules.play(rules.initial, action)
    has_turned = rules.moves_again is None or not rules.moves_again(after)
    for place in rules.position.places:
        if place.is_board and place.bits == squares:
            then = PARTNERS.get(place.name, place.name) if has_turned else place.name
            if (int(getattr(start, place.name)) ^ int(getattr(after, then))) >> action & 1:
                return True
    return False


def _contents(of: Any, packed: Packed, squares: int) -> NDArray[np.int64]:
    """int64[F, N, S]: what each field says of each square in these positions."""
    contents = []
    for place in of.places:
        if is_on_squares(place, squares):
            values = field_values(of, packed, place.name)
            if place.is_board:
                words = values.reshape(len(packed), -1, 1)
                values = (words >> np.arange(PART_BITS) & 1).reshape(len(packed), -1)[:, :squares]
            contents.append(values)
    return np.stack(contents)


def _exchanged(before: NDArray[np.int64], after: NDArray[np.int64]) -> list[int]:
    """For each field ([F, N, S]), the one that holds the same of the other player: its contents differ least from what
    this one holds after a turn."""
    fields = range(len(before))
    if len(before) > MOST_PAIRED or before.shape[1] == 0:
        return [*fields]
    differences = (before[:, None] != after).sum(axis=(2, 3))
    # The first of the best, which is that of fields that are not exchanged.
    return [*min(permutations(fields), key=lambda order: sum(differences[fields, order]))]


def _touched(changes: NDArray[np.bool_], actions: NDArray[np.int64], num_actions: int) -> TouchedSquares:
    """`changes`: bool[2F, E, S], which squares lose and gain something in each field; `actions`: int64[E]."""
    roles, _, squares = changes.shape
    order = np.argsort(actions, kind="stable")
    legal, first = np.unique(actions[order], return_index=True)
    changed = changes[:, order].transpose(1, 0, 2).reshape(len(actions), roles * squares)
    always, ever = np.logical_and.reduceat(changed, first), np.logical_or.reduceat(changed, first)
    ever[always.any(axis=1)] = False
    # Squares that change only sometimes have roles of their own.
    touches = np.concatenate([always, ever], axis=1).reshape(len(legal), 2 * roles, squares)
    happening = np.flatnonzero(touches.any(axis=(0, 2)))
    touches = touches[:, happening if len(happening) else [0]]
    num_roles = touches.shape[1]
    most = max(1, int(touches.sum(axis=(1, 2)).max(initial=0)))
    places = np.full((num_actions, most), num_roles * squares)
    for action, touched in zip(legal.tolist(), touches.reshape(len(legal), num_roles * squares), strict=True):
        places[action, : touched.sum()] = np.flatnonzero(touched)
    kinds, counts = np.zeros(num_actions, dtype=np.int64), dict[bytes, int]()
    for action in legal.tolist():
        key = places[action].tobytes()
        kinds[action] = counts.get(key, 0)
        counts[key] = kinds[action] + 1
    return TouchedSquares(num_roles, places, kinds)
