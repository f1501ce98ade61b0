"""Kernels in plain Python, with general rules and with the rules of their game find the same."""

from itertools import pairwise

import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import State, make_game
from selfplay.games import tiers as tiers_of_games
from selfplay.games.kernels import compile_kernels

FEW, MANY = 0, 10**9
IN_PLAIN_PYTHON, GENERAL, SPECIAL = (MANY, MANY), (FEW, MANY), (FEW, FEW)
"""How many positions are processed in plain Python, and how many with general rules."""


def found_by_kernels(name: str, plies: int) -> list[bytes]:
    """What all kernels give in random matches: each ply's masks, random actions, next states and ends."""
    game = make_game(name)
    compile_kernels.cache_clear()
    kernels, state, found = compile_kernels(game.rules, game.pass_action), game.init(40), list[torch.Tensor]()
    for ply in range(plies):
        actions = kernels.random_actions(state, Draws(3, torch.arange(40), ply))
        found += [kernels.legal_action_mask(state, game.num_distinct_actions), actions]
        state = State(*kernels.step(state, actions))
        found += [*state, *kernels.ends(state.position)]
    counts = [kernels.perft(game.rules.initial, depth, finished) for depth in (1, 3) for finished in (True, False)]
    found.append(torch.tensor(counts))
    compile_kernels.cache_clear()
    return [one.numpy().tobytes() for one in found]


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("tictactoe", 9),
        *(
            pytest.param(name, plies, marks=pytest.mark.slow)
            # Passes; several words and half points; players who move again; many actions.
            for name, plies in (("othello_4x4", 13), ("go", 60), ("dots_and_boxes", 40), ("nine_mens_morris", 60))
        ),
    ],
)
def test_kernels_of_all_kinds_find_the_same(name: str, plies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for few, many in (IN_PLAIN_PYTHON, GENERAL, SPECIAL):
        monkeypatch.setattr(tiers_of_games, "FEW_POSITIONS", few)
        monkeypatch.setattr(tiers_of_games, "STEPS_BEFORE_SPECIAL", many)
        found.append(found_by_kernels(name, plies))
    for one, other in pairwise(found):
        assert one == other
