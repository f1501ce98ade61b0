"""The proof of who wins Breakthrough, against plain search and from the start."""

import importlib
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch

from selfplay.games import make_game
from selfplay.games.conformance import random_plies
from tests.support.runs import PROJECT

pytestmark = pytest.mark.slow

GAME = make_game("breakthrough")


@pytest.fixture
def proof(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(PROJECT / "benchmarks")
    return importlib.import_module("breakthrough")


@cache
def wins(position: Any) -> bool:
    legal = GAME.rules.legal_actions(position)
    return any(not wins(GAME.rules.play(position, a)) for a in range(GAME.num_distinct_actions) if legal >> a & 1)


def test_the_winner_of_positions_with_few_stones_is_that_of_plain_search(proof: ModuleType) -> None:
    results = []
    for state, _, _ in random_plies(GAME)[10:]:
        few = (GAME.squares(state) != 0).sum(dim=1) <= 10
        for row in (few & ~state.terminated).nonzero()[:3, 0].tolist():
            one = state.select(torch.tensor([row]))
            results.append(wins(*GAME.positions(one)))
            # A small table loses positions, which are searched again.
            player, _ = proof.winner(one, table_bits=6)
            assert (player == int(one.current_player)) == results[-1]
    assert len(results) > 10
    assert {True, False} == set(results)


def test_the_second_player_wins_after_a_first_move(proof: ModuleType) -> None:
    """`python benchmarks/breakthrough.py` tries all first moves, which takes longer."""
    assert proof.winner(GAME.state_after(["c2b3"]))[0] == 1
