"""The compiled searches grow the same trees as a search in plain Python, node for node."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games import State, make_game
from selfplay.search.mcts.rollouts import RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree import NOT_ADDED, OPEN
from selfplay.search.mcts.tree_search import TreeSearch
from tests.search.mcts.hashed_evaluator import HashedEvaluator
from tests.search.mcts.reference import (
    ReferenceGumbel,
    ReferenceNode,
    ReferencePuct,
    ReferenceSearch,
    ReferenceUct,
    keep,
    rollout_evaluation,
)

GAME = make_game("tictactoe")
OTHELLO = make_game("othello_4x4")
SIMULATIONS = 60
RULES = {
    "puct": (lambda: ReferencePuct(noise=0.25, alpha=0.7), {"noise": 0.25, "alpha": 0.7}),
    "gumbel": (
        lambda: ReferenceGumbel(SIMULATIONS, considered=5, gumbel_scale=1.0),
        {"considered": 5, "gumbel_scale": 1.0},
    ),
    "uct": (ReferenceUct, {}),
}


def positions(game, plies):
    """One position after each of these numbers of random plies."""
    states = []
    for number in plies:
        state = game.init()
        for ply in range(number):
            state = game.step(state, game.kernels.random_actions(state, Draws(number, torch.tensor([0]), ply)))
        states.append(state)
    return [state for state in states if not state.terminated]


def assert_same_tree(game, trees, root: ReferenceNode):
    """Compares every node of the tree by its number."""
    nodes = {node.number: node for node in root.walk()}
    assert len(nodes) == trees.sizes[0]
    for number, node in nodes.items():
        found, edges = trees.nodes[0, number], trees.edges[0, number, : trees.nodes[0, number]["num_edges"]]
        assert (found["own"], found["opp"], found["is_proved"]) == (node.own, node.opp, node.proved)
        assert found["value"] == node.value
        moves = [0 if action == game.pass_action else 1 << action for action in node.actions]
        assert edges["move"].tolist() == moves
        assert edges["visits"].tolist() == list(node.visits.values())
        assert (edges["status"] != OPEN).tolist() == [action in node.exact for action in node.actions]
        assert edges["value"].tolist() == list(node.mean.values())
        np.testing.assert_allclose(edges["prior"], list(node.prior.values()), rtol=1e-12)
        children = [node.children[a].number if a in node.children else NOT_ADDED for a in node.actions]
        assert edges["child"].tolist() == children


def assert_same_as_reference(game, evaluator, evaluate, name, proves, state: State, match: int):
    build, constants = RULES[name]
    draws = Draws(17, torch.tensor([match]), 3)
    words = [np.int64(draws.words(purpose).item()) for purpose in (Purpose.ROOT_NOISE, Purpose.LEAF)]
    with np.errstate(over="ignore"):
        reference = ReferenceSearch(game, evaluate, build(), SIMULATIONS, proves, words)
        root = reference.run(int(state.own), int(state.opp))
    search = TreeSearch(game, evaluator, make_rule(name, constants), SIMULATIONS, proves=proves)
    assert_same_tree(game, search.grow(state, draws), root)


@pytest.mark.parametrize("proves", [False, True])
@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_a_search_with_batches_grows_the_reference_tree(name, proves):
    evaluator = HashedEvaluator(GAME.num_distinct_actions)
    for match, state in enumerate(positions(GAME, [0, 1, 2, 3, 4, 5])):
        assert_same_as_reference(GAME, evaluator, evaluator.of_one, name, proves, state, match)


@pytest.mark.parametrize("proves", [False, True])
@pytest.mark.parametrize(("name", "game"), [("uct", GAME), pytest.param("puct", OTHELLO, marks=pytest.mark.slow)])
def test_a_search_with_compiled_rollouts_grows_the_reference_tree(name, game, proves):
    evaluator, evaluate = RolloutEvaluator(2), rollout_evaluation(game, 2)
    for match, state in enumerate(positions(game, [0, 2, 4, 7])):
        assert_same_as_reference(game, evaluator, evaluate, name, proves, state, match)


@pytest.mark.parametrize(
    ("name", "game", "simulations", "by_rollouts"),
    [
        ("puct", GAME, 60, False),
        ("puct", GAME, 15, False),
        ("uct", GAME, 60, True),
        pytest.param("puct", OTHELLO, 30, True, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("proves", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_a_search_continues_the_reference_tree_of_its_match(name, game, simulations, by_rollouts, proves, step):
    """Every ply, or every second one, is searched. The most visited actions are followed, so that much is kept."""
    hashed = HashedEvaluator(game.num_distinct_actions)
    evaluator, evaluate = (RolloutEvaluator(1), rollout_evaluation(game, 1)) if by_rollouts else (hashed, hashed.of_one)
    build, constants = RULES[name]
    search = TreeSearch(game, evaluator, make_rule(name, constants), simulations, proves=proves, reuse=True)
    state, root, was_kept = game.init(), None, 0
    for ply in range(8):
        draws, own, opp = Draws(17, torch.tensor([5]), ply), int(state.own), int(state.opp)
        if ply % step == 0:
            kept = None if root is None else keep(root, own, opp, simulations)
            was_kept += kept is not None
            words = [np.int64(draws.words(purpose).item()) for purpose in (Purpose.ROOT_NOISE, Purpose.LEAF)]
            with np.errstate(over="ignore"):
                root = ReferenceSearch(game, evaluate, build(), simulations, proves, words).run(own, opp, kept)
            assert_same_tree(game, search.grow(state, draws), root)
            node = root
        action = max(node.actions, key=lambda action: (node.visits[action], action))
        node = node.children.get(action)
        state = game.step(state, torch.tensor([action]))
        if state.terminated or node is None:
            break
    assert was_kept
