"""Tree search: the results of a search in plain Python; exact values, policies, and the batch."""

import threading
from functools import cache

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SettingError
from selfplay.games import State, make_game
from selfplay.games.position_graph import optimal_actions, perfect_values, positions_of
from selfplay.players.mcts import MctsPlayer
from selfplay.search.deadline import Deadline, StoppedError
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.mcts import tree_search
from selfplay.search.mcts.evaluator import MATCH_RETURN, AfterstateEvaluator, PositionValues, RolloutEvaluator
from selfplay.search.mcts.mixed_evaluator import MixedEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree import TreeSearchResult
from selfplay.search.mcts.tree_search import TreeSearch
from tests.search.mcts.hashed_evaluator import HashedEvaluator
from tests.search.mcts.reference import (
    ReferenceGumbel,
    ReferenceNode,
    ReferencePuct,
    ReferenceSearch,
    ReferenceUct,
    afterstate_evaluation,
    keep,
    rollout_evaluation,
)
from tests.support.dots import CountedDots
from tests.support.searches import at_ctrl_c, position_after

GAME = make_game("tictactoe")
OTHELLO = make_game("othello_4x4")
SIMULATIONS = 60
WITH_ROLLOUTS = 24
"""Fewer: rollouts in plain Python are slow. The first 16 run in the calling thread."""


# ---------------------------------------------------------------------- compared with plain Python

RULES = {
    "puct": (lambda: ReferencePuct(noise=0.25, alpha=0.7), {"noise": 0.25, "alpha": 0.7}),
    "gumbel": (
        lambda: ReferenceGumbel(SIMULATIONS, considered=5, gumbel_scale=1.0),
        {"considered": 5, "gumbel_scale": 1.0},
    ),
    "uct": (ReferenceUct, {}),
}


def assert_same_result(name, proves, found: TreeSearchResult, root: ReferenceNode):
    """Visits, values and proofs of the root depend on every node below it."""
    visits, known = list(root.visits.values()), [a for a in root.actions if root.visits[a] or a in root.exact]
    assert found.visits[0, root.actions].tolist() == visits
    assert found.visits.sum() == sum(visits)
    assert found.action_values[0, known].tolist() == [root.mean[action] for action in known]
    assert bool(found.is_proved) == root.proved
    mean = (root.value + sum(root.visits[action] * root.mean[action] for action in known)) / (1 + sum(visits))
    assert float(found.value) == pytest.approx(root.value if root.proved else mean, abs=1e-12)
    if name != "gumbel":
        best = [action for action in known if action in root.exact and root.mean[action] == root.value]
        playable = best if root.proved else [action for action in root.actions if not root.lost(action, proves)]
        weights = [root.visits[action] for action in playable]
        if not any(weights):
            weights = [root.prior[action] for action in playable]
        expected = [weight / sum(weights) for weight in weights]
        np.testing.assert_allclose(found.policy[0, playable], expected, rtol=1e-12)


def assert_same_as_reference(game, evaluator, evaluate, name, simulations, proves, state: State, match: int):
    build, constants = RULES[name]
    draws = Draws(17, torch.tensor([match]), 3)
    words = [np.int64(draws.bits(purpose).item()) for purpose in (Purpose.ROOT_NOISE, Purpose.LEAF)]
    with np.errstate(over="ignore"):
        reference = ReferenceSearch(game, evaluate, build(), simulations, proves, words)
        root = reference.run(game.positions(state)[0])
    search = TreeSearch(game, evaluator, make_rule(name, constants), simulations, proves=proves)
    assert_same_result(name, proves, search.search(state, draws), root)


@pytest.mark.parametrize(
    ("name", "by_rollouts"), [("puct", False), ("gumbel", False), ("uct", True)], ids=["puct", "gumbel", "uct"]
)
@pytest.mark.parametrize("proves", [False, True])
def test_a_search_finds_what_the_reference_search_finds(name, by_rollouts, proves):
    """Also with rollouts, which run in the calling thread first and continue in another, and with values mixed with
    rollouts."""
    hashed = HashedEvaluator(GAME.num_distinct_actions)
    evaluator, evaluate = hashed, hashed.of_one
    if by_rollouts:
        evaluator, one, two = (
            MixedEvaluator(RolloutEvaluator(2), 0.25, 1),
            *(rollout_evaluation(GAME, n) for n in (1, 2)),
        )

        def evaluate(position, word):
            (value, logits), (added, _) = two(position, word), one(position, word)
            return 0.75 * value + 0.25 * added, logits

    simulations, starts = (WITH_ROLLOUTS, (2, 5)) if by_rollouts else (SIMULATIONS, (0, 2, 4, 5))
    for match, plies in enumerate(starts):
        state = position_after(GAME, plies, match)
        assert_same_as_reference(GAME, evaluator, evaluate, name, simulations, proves, state, match)


@pytest.mark.parametrize(
    ("name", "game", "simulations", "by_rollouts", "proves", "step"),
    [
        ("puct", GAME, 60, False, True, 1),
        ("uct", GAME, WITH_ROLLOUTS, True, True, 2),
        pytest.param("puct", OTHELLO, 15, True, True, 1, marks=pytest.mark.slow),
    ],
)
def test_a_search_that_continues_its_tree_finds_what_the_reference_finds(
    name, game, simulations, by_rollouts, proves, step
):
    """Every ply, or every second one, is searched. The most visited actions are followed, so that much is kept."""
    hashed = HashedEvaluator(game.num_distinct_actions)
    evaluator, evaluate = (RolloutEvaluator(1), rollout_evaluation(game, 1)) if by_rollouts else (hashed, hashed.of_one)
    build, constants = RULES[name]
    search = TreeSearch(game, evaluator, make_rule(name, constants), simulations, proves=proves, reuse=True)
    state, root, was_kept = game.init(), None, 0
    for ply in range(8):
        draws, position = Draws(17, torch.tensor([5]), ply), game.positions(state)[0]
        if ply % step == 0:
            kept = None if root is None else keep(root, position, simulations)
            was_kept += kept is not None
            words = [np.int64(draws.bits(purpose).item()) for purpose in (Purpose.ROOT_NOISE, Purpose.LEAF)]
            with np.errstate(over="ignore"):
                root = ReferenceSearch(game, evaluate, build(), simulations, proves, words).run(position, kept)
            assert_same_result(name, proves, search.search(state, draws), root)
            node = root
        action = max(node.actions, key=lambda action: (node.visits[action], action))
        node = node.children.get(action)
        state = game.step(state, torch.tensor([action]))
        if state.terminated or node is None:
            break
    assert was_kept


@pytest.mark.slow
def test_rounds_evaluated_together_find_what_one_position_at_a_time_finds():
    game = make_game("dots_and_boxes")
    hashed = HashedEvaluator(game.num_distinct_actions)
    for match, plies in enumerate((0, 2, 4)):
        for proves in (False, True):
            state = position_after(game, plies, match)
            assert_same_as_reference(game, hashed, hashed.of_one, "gumbel", SIMULATIONS, proves, state, match)
    assert hashed.batches < 0.6 * hashed.asked


LEAD = FeatureEvaluation(1.0, 0.0, {"lead": 0.1})


@pytest.mark.slow
@pytest.mark.parametrize("by_rollouts", [False, True], ids=["afterstates", "rollouts"])
@pytest.mark.parametrize("proves", [False, True])
def test_a_search_finds_what_the_reference_finds_where_players_move_again(by_rollouts, proves):
    game, evaluator = CountedDots(), RolloutEvaluator(2)
    evaluate, margin = rollout_evaluation(game, 2), game.rules.margin
    if not by_rollouts:
        evaluator = AfterstateEvaluator(LEAD, MATCH_RETURN, temperature=1.0)
        evaluate = afterstate_evaluation(game, lambda position: 0.1 * int(margin(position)), temperature=1.0)
    for match, plies in enumerate((4, 7, 9, 10)):
        state = position_after(game, plies, match)
        assert_same_as_reference(game, evaluator, evaluate, "uct", WITH_ROLLOUTS, proves, state, match)


@pytest.mark.slow
def test_proved_values_are_perfect_where_players_move_again():
    game = CountedDots()

    @cache
    def lead(position):
        """The lead at the end of the player to move."""
        if game.rules.is_terminal(position):
            return int(game.rules.margin(position))
        actions = [action for action in range(12) if game.rules.legal_actions(position) >> action & 1]
        after = [game.rules.play(position, action) for action in actions]
        return max(lead(one) if game.rules.moves_again(one) else -lead(one) for one in after)

    states = [position_after(game, plies, match) for match in range(6) for plies in (6, 7, 8)]
    state = State(*map(torch.cat, zip(*states, strict=True)))
    found = TreeSearch(game, RolloutEvaluator(2), make_rule("uct"), 5000).search(state, Draws(5, torch.arange(18), 0))
    assert found.is_proved.all()
    assert found.value.tolist() == np.sign([lead(position) for position in game.positions(state)]).tolist()
    assert set(found.value.tolist()) == {-1.0, 0.0, 1.0}


# ---------------------------------------------------------------------- results

NOISE = {"puct": {"noise": 0.25}, "gumbel": {"gumbel_scale": 1.0}}


def with_batches(name, simulations, **arguments):
    return TreeSearch(GAME, HashedEvaluator(9), make_rule(name, NOISE[name]), simulations, **arguments)


@pytest.fixture(scope="module")
def graph():
    return positions_of("tictactoe")


@pytest.mark.slow
def test_with_enough_simulations_positions_of_tictactoe_are_solved(graph):
    """Every action is optimal and every value rounds to the exact one; most values are proved."""
    some = np.arange(0, len(graph), 10)
    result = TreeSearch(GAME, RolloutEvaluator(), make_rule("uct"), 20000).search(
        graph.state.select(torch.tensor(some))
    )
    exact, proved = perfect_values(graph)[some], result.is_proved.numpy()
    assert (result.value.numpy()[proved] == exact[proved]).all()
    optimal = optimal_actions(graph, perfect_values(graph))[some]
    rows = np.flatnonzero(~graph.terminated[some])
    assert proved[rows].mean() > 0.99
    assert optimal[rows, result.actions.numpy()[rows]].all()
    np.testing.assert_allclose(result.value.numpy()[rows], exact[rows], atol=0.1)


@pytest.mark.parametrize(("name", "parallel"), [("puct", 1), ("gumbel", 1), ("puct", 4), ("gumbel", 4)])
def test_a_result_does_not_depend_on_the_batch(graph, name, parallel, monkeypatch):
    rows = torch.arange(1, len(graph), 130)
    state, match = graph.state.select(rows), torch.arange(len(rows)) % 7
    search = with_batches(name, 12, parallel=parallel)
    together = search.search(state, Draws(5, match, 2))
    for start in range(0, len(rows), 3):
        alone = search.search(state.select(torch.arange(start, start + 1)), Draws(5, match[start : start + 1], 2))
        for one, all_of_them in zip(alone, together, strict=True):
            assert torch.equal(one[0].nan_to_num(9), all_of_them[start].nan_to_num(9))
    monkeypatch.setattr(tree_search, "BYTES_AT_ONCE", 1 << 16)
    for one, other in zip(search.search(state, Draws(5, match, 2)), together, strict=True):
        assert torch.equal(one.nan_to_num(9), other.nan_to_num(9))


def test_the_positions_of_a_round_are_evaluated_together():
    search = TreeSearch(GAME, HashedEvaluator(9), make_rule("gumbel", {"considered": 5}), 16)
    assert int(search.search(GAME.init()).visits.sum()) == 16
    # The root, then rounds of 5, 2, 2, 2, 2, 2 and 1 simulations.
    assert search.evaluator.batches == 8


@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_with_parallel_the_positions_of_several_simulations_are_evaluated_together(name):
    """Every simulation counts once, and no virtual loss remains: all evaluations are 0, and so are their means."""
    search = TreeSearch(GAME, HashedEvaluator(9, scale=0), make_rule(name), SIMULATIONS, proves=False, parallel=8)
    found = search.search(GAME.init())
    assert int(found.visits.sum()) == SIMULATIONS
    assert search.evaluator.batches < SIMULATIONS / 4
    np.testing.assert_allclose(found.action_values[found.visits > 0], 0, atol=1e-12)


def test_no_simulation_passes_through_a_position_that_waits():
    # Two squares are empty: the root and the positions after both actions are all that is evaluated.
    search = with_batches("puct", SIMULATIONS, proves=False, parallel=64)
    found = search.search(GAME.state_after(["0,0", "0,1", "0,2", "1,0", "1,1", "2,0", "1,2"]))
    assert (int(found.visits.sum()), search.evaluator.asked, search.evaluator.batches) == (SIMULATIONS, 3, 2)


def test_a_proved_win_is_played_although_another_action_was_visited_more():
    # X has two in a row at 0 and 1, and is to move.
    state = GAME.state_at(torch.tensor([[0b000000011, 0b000011000]]))
    result = with_batches("puct", 5).search(state)
    assert (int(result.actions), float(result.value), bool(result.is_proved)) == (2, 1.0, True)
    assert result.policy[0].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_a_proved_loss_gets_no_weight():
    # O threatens 5; every other reply loses at once.
    state = GAME.state_at(torch.tensor([[0b100000001, 0b000011000]]))
    result = with_batches("gumbel", 20).search(state)
    assert int(result.actions) == 5
    assert result.policy[0, 5] == 1


def test_nothing_is_searched_where_the_match_is_over():
    state = GAME.state_at(torch.tensor([[0b000011000, 0b000000111]]))
    result = with_batches("puct", 5).search(state)
    assert float(result.visits.sum()) == float(result.policy.sum()) == 0
    assert with_batches("puct", 5).search(state.select(torch.tensor([], dtype=torch.int64))).actions.shape == (0,)


def test_ctrl_c_ends_a_long_search(default_sigint):
    search = TreeSearch(GAME, RolloutEvaluator(), make_rule("uct"), 1_000_000)
    search.search(GAME.state_after(["1,1", "0,0", "0,1", "2,1", "1,0", "1,2"]))  # compiles
    with pytest.raises(KeyboardInterrupt):
        at_ctrl_c(lambda: search.search(GAME.init(10_000)))


# ---------------------------------------------------------------------- evaluators of one's own


class Uniform:
    """Only what docs/alphazero.md asks for."""

    def evaluate(self, state):
        return PositionValues(torch.zeros(state.batch_size), torch.zeros(state.batch_size, 9))


class Narrow:
    def evaluate(self, state):
        return PositionValues(torch.zeros(state.batch_size), torch.zeros(state.batch_size, 8))


def test_an_evaluator_needs_no_more_than_evaluate():
    search = TreeSearch(GAME, Uniform(), make_rule("puct"), SIMULATIONS)
    # X completes the top row, which only the value of the end says.
    state = GAME.state_after(["0,0", "1,0", "0,1", "1,1"])
    assert search.search(state).actions.tolist() == [2]
    player = MctsPlayer(search)
    assert (player.name, player.value_actions(state).points_per_value) == ("mcts Uniform", None)


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (object(), r"evaluator object: has no method evaluate\(state\) and no position_value\(game\)"),
        (type("Ends", (Uniform,), {"ends": 1.0})(), r"evaluator Ends: ends=1.0: must be EndValues\(win, point\)"),
        (Narrow(), r"evaluator Narrow: evaluate must return PositionValues\(value=float\[1\], logits=float\[1, 9\]\)"),
    ],
)
def test_an_evaluator_that_cannot_evaluate_is_refused_with_what_is_wrong(evaluator, message):
    with pytest.raises(SettingError, match=f"^{message}$"):
        TreeSearch(GAME, evaluator, make_rule("puct"), SIMULATIONS).search(GAME.init())


ENDLESS = 100_000


def searching(evaluator, rule, simulations=ENDLESS):
    """A search; with the usual number of simulations no test waits for its end."""
    return TreeSearch(GAME, evaluator, make_rule(rule), simulations, proves=False)


BOTH = pytest.mark.parametrize(
    ("evaluator", "rule"), [(RolloutEvaluator(), "uct"), (HashedEvaluator(9), "puct")], ids=["compiled", "in batches"]
)


@BOTH
def test_a_deadline_ends_a_search_with_the_simulations_that_it_has_run(evaluator, rule):
    state = GAME.init(3)
    with Deadline(0.0).applied():
        found = searching(evaluator, rule).search(state)
    visits = found.visits.sum(dim=1)
    assert bool(((visits >= tree_search.FEWEST_AFTER_DEADLINE) & (visits < ENDLESS)).all())
    # It is what a search of this number of simulations finds.
    short = searching(evaluator, rule, int(visits[0])).search(state.select(torch.tensor([0])))
    assert torch.equal(found.visits[:1], short.visits)
    assert (int(found.actions[0]), float(found.value[0])) == (int(short.actions[0]), float(short.value[0]))


@BOTH
def test_a_search_ends_when_its_deadline_is_cancelled(evaluator, rule):
    deadline = Deadline()
    threading.Timer(0.1, deadline.cancel).start()
    with deadline.applied(), pytest.raises(StoppedError):
        searching(evaluator, rule).search(GAME.init(2))
