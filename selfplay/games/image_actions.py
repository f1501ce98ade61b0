"""What actions become under an image of the board: those that lead to the images of the same next positions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import fold
from selfplay.games.board_images import Transform
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

Actions = NDArray[np.int64]
"""int64[A]: what each action becomes under an image of the board."""

TIMES_SEEN = 3
"""In how many of the positions in which all legal actions are compared each action is legal, if it is in so many."""
UNKNOWN = -1


class Frame(NamedTuple):
    """All legal actions in the images of some positions."""

    keys: NDArray[np.int64]
    """int64[E], in ascending order: a hash of the position and of the next one, whose inverse image is taken."""
    actions: NDArray[np.int64]
    """int64[E]."""


def rows_with_every_action(mask: NDArray[np.bool_], times: int = TIMES_SEEN) -> list[int]:
    """The first positions in which each action is legal this number of times, if it is legal in so many."""
    seen, rows = np.zeros(mask.shape[1], dtype=np.int64), list[int]()
    for row, legal in enumerate(mask):
        if (legal & (seen < times)).any():
            seen += legal
            rows.append(row)
    return rows


def frame_of(game: BatchStepping, state: State, transform: Transform, inverse: Transform) -> Frame | None:
    """The legal actions in the images of positions; None if a rule fails in one, to which no match may lead."""
    try:
        images = state._replace(position=torch.from_numpy(transform(state.position.numpy())))
        rows, actions = game.kernels.legal_action_mask(images, game.num_distinct_actions).nonzero(as_tuple=True)
        following = game.kernels.step(images.select(rows), actions)
    except Exception:
        return None
    keys = rows.numpy()
    for column in inverse(following.position.numpy()).T:
        keys = fold(keys, column)
    for field in following[1:]:
        keys = fold(keys, field.numpy().astype(np.int64))
    order = np.argsort(keys, kind="stable")
    return Frame(keys[order], actions.numpy()[order])


def matched(num_actions: int, frames: Sequence[tuple[Frame, Frame]]) -> Actions | None:
    """What the actions of the first frames become in the second; None if it is not one to one."""
    goes_to = np.full(num_actions, UNKNOWN)
    keys = frames[0][0].keys
    is_shared = np.zeros(len(keys) + 1, dtype=np.bool_)
    is_shared[1:-1] = keys[1:] == keys[:-1]
    is_alone = ~(is_shared[1:] | is_shared[:-1])
    pairs = np.concatenate([np.stack([one.actions, other.actions])[:, is_alone] for one, other in frames], axis=1)
    goes_to[pairs[0]] = pairs[1]
    if (goes_to[pairs[0]] != pairs[1]).any():
        return None
    starts = np.flatnonzero(~is_shared[:-1] & is_shared[1:])
    ends = np.searchsorted(keys, keys[starts], side="right")
    choices = dict[int, set[int]]()
    taken = {*goes_to.tolist()}
    for one, other in frames:
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            targets = {*other.actions[start:end].tolist()} - taken
            for action in one.actions[start:end].tolist():
                if goes_to[action] == UNKNOWN:
                    choices[action] = choices.get(action, targets) & targets
    if not assign(choices, goes_to):
        return None
    # Actions that are nowhere legal.
    goes_to = np.where(goes_to == UNKNOWN, np.arange(num_actions), goes_to)
    return goes_to if len({*goes_to.tolist()}) == num_actions else None


def assign(choices: dict[int, set[int]], goes_to: Actions) -> bool:
    """Write what actions become that lead to the same positions as others; False if there are not as many choices."""
    while (single := next((action for action, found in choices.items() if len(found) == 1), None)) is not None:
        (target,) = choices.pop(single)
        goes_to[single] = target
        choices.update({action: found - {target} for action, found in choices.items()})
    alike = dict[frozenset[int], list[int]]()
    for action in sorted(choices):
        alike.setdefault(frozenset(choices[action]), []).append(action)
    for targets, actions in alike.items():
        if len(targets) != len(actions):
            return False
        goes_to[actions] = sorted(targets)
    return True
