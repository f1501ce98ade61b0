"""Networks and tree searches of exported pages are those of the library."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page

from selfplay.games.state import State
from selfplay.named_players.make import make_player
from selfplay.players.mcts import MctsPlayer
from selfplay.runs.levels import agent_of_level
from selfplay.search.mcts.tree import TreeSearchResult
from tests.web.browser.exported.pages import (
    GAME_OF,
    POLICY,
    check_positions,
    network_run,
    positions_of_random_matches,
    rows_of,
)

SEARCHED = """
async ({ positions, simulations }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { treeSearched } = await import("./local/tree_search.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  const { rule } = description.ways[description.judge];
  return positions.map(([packed, player]) => {
    const state = { position: game.rules.unpacked(BigInt(packed)), player, isOver: false };
    return { ...agent.evaluation(state.position), ...treeSearched(game, agent, rule, state, { simulations }) };
  });
}
"""
SIMULATIONS = 20


def searched_by_library(run_dir: Path, name: str, state: State) -> TreeSearchResult:
    player = make_player(f"mcts:level:1?simulations={SIMULATIONS}", GAME_OF[name], run_dir)
    assert isinstance(player, MctsPlayer)
    return player.search.search(state)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["conv", "residual", "ntuple"])
def test_values_of_networks_are_those_of_the_library(
    architecture: str, exported: Page, address: Callable[[str], str], run_of: Callable[..., Path]
) -> None:
    exported.goto(address(architecture))
    check_positions(exported, agent_of_level(run_of(architecture)), 100)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [POLICY, "alphazero_residual", "alphazero_convolutional", "columns"])
def test_tree_search_and_its_network_are_those_of_the_library(
    architecture: str, exported: Page, address: Callable[[str], str], run_of: Callable[..., Path], tmp_path: Path
) -> None:
    """Compared in positions in which no choice of the search is so close that rounding could decide it."""
    exported.goto(address(architecture))
    run_dir = run_of(architecture)
    agent = agent_of_level(run_dir)
    check_positions(exported, agent, 300)
    state = positions_of_random_matches(agent.game, 300)
    searched = searched_by_library(run_dir, architecture, state)
    changed = searched_by_library(network_run(tmp_path, architecture, change=1e-5), architecture, state)
    state = state.select((searched.visits == changed.visits).all(dim=1).nonzero()[:, 0])
    assert state.batch_size > 250
    searched = searched_by_library(run_dir, architecture, state)
    found = exported.evaluate(SEARCHED, {"positions": rows_of(state), "simulations": SIMULATIONS})
    evaluated = agent.policy().evaluate(state)
    np.testing.assert_allclose([one["value"] for one in found], evaluated.value.numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose([one["logits"] for one in found], evaluated.logits.numpy(), rtol=0, atol=1e-5)
    assert [one["action"] for one in found] == searched.actions.tolist()
    assert [one["visits"] for one in found] == searched.visits.tolist()
    values = np.array([one["values"] for one in found], dtype=np.float64)
    np.testing.assert_allclose(values, searched.action_values.numpy(), rtol=0, atol=1e-5)
    assert (searched.visits.sum(dim=1) == SIMULATIONS).sum() > 30
