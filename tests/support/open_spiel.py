"""Games of OpenSpiel against ours, move for move."""

from collections.abc import Callable
from typing import Any

import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import Game


def same(action: int, position: Any) -> int:
    return action


def assert_agrees(game: Game, positions: list[Any], action_of: Callable[[int, Any], int] = same) -> None:
    """Random matches from these positions of OpenSpiel, all of them starts, have the same actions and results.

    `action_of(action, position)`: the number of our action in a position of OpenSpiel.
    """
    key, match, state = stream_key(0, 0, Activity.MEASUREMENT), torch.arange(len(positions)), game.init(len(positions))
    for ply in range(game.max_game_length + 1):
        masks = game.legal_action_mask(state)
        actions = game.kernels.random_actions(state, Draws(key, match, ply))
        for row in (~state.terminated).nonzero()[:, 0].tolist():
            position = positions[row]
            assert not position.is_terminal()
            assert position.current_player() == int(state.current_player[row])
            legal = [action_of(action, position) for action in masks[row].nonzero()[:, 0].tolist()]
            assert sorted(legal) == sorted(position.legal_actions()), position
            position.apply_action(action_of(int(actions[row]), position))
        state = game.step_unchecked(state, actions)
    assert bool(state.terminated.all())
    assert all(position.is_terminal() for position in positions)
    assert [position.returns()[0] for position in positions] == state.returns.tolist()
