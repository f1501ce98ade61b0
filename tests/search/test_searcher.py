"""The searches, compared with each other, with a search in plain Python and with perfect play."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from selfplay.errors import SettingError
from selfplay.games import State, make_game
from selfplay.games.game import Game
from selfplay.games.position_graph import PositionGraph, optimal_actions, perfect_values, positions_of
from selfplay.named_players.evaluations import make_evaluation
from selfplay.named_players.make import make_player
from selfplay.search.batch_search import MIN_WINDOW_DEPTH
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.negamax import ALGORITHMS
from selfplay.search.searcher import Searcher, SearchParameters
from tests.support.dots import CountedDots
from tests.support.searches import evaluation_for, position_after, position_values

# A game that does not count points, one that does and has passes, and one whose players may move again.
GAMES = {name: make_game(name) for name in ("tictactoe", "othello_4x4")} | {"dots": CountedDots()}
DOTS = pytest.param("dots", marks=pytest.mark.slow)
VARIANTS = [
    ("minimax", False, 0),
    ("alpha_beta", False, 0),
    ("alpha_beta", True, 10),
    ("negascout", False, 3),
    ("negascout", True, 10),
]


def negamax(game: Game, evaluation: FeatureEvaluation, state: State, depth: int) -> tuple[tuple[float, int], int, int]:
    """The value, the lowest best action and the positions visited, by the definition alone.

    After the value comes the number of plies that a match which is over had left to search, negative for a loss: of two
    wins the sooner is better. It is 0 in games that count points.
    """
    if bool(state.terminated):
        value = float(position_values(evaluation, game, state))
        return (value, 0 if game.rules.margin is not None else depth * int(np.sign(value))), -1, 1
    if depth == 0:
        return (float(position_values(evaluation, game, state)), 0), -1, 1
    best, chosen, visited = (-np.inf, 0), -1, 1
    for action in game.legal_action_mask(state)[0].nonzero()[:, 0].tolist():
        after = game.step(state, torch.tensor([action]))
        (value, speed), _, count = negamax(game, evaluation, after, depth - 1)
        visited += count
        sign = 1 if bool(after.current_player == state.current_player) else -1
        if (sign * value, sign * speed) > best:
            best, chosen = (sign * value, sign * speed), action
    return best, chosen, visited


@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", DOTS])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**40), plies=st.integers(0, 14), depth=st.integers(0, 2))
def test_minimax_equals_its_definition(name, seed, plies, depth):
    game = GAMES[name]
    state, evaluation = position_after(game, plies, seed), evaluation_for(game)
    (value, _), action, visited = negamax(game, evaluation, state, depth)
    found = Searcher(game, evaluation, "minimax", SearchParameters(table_bits=0)).search_batch(state, depth)
    assert found.values.tolist() == [value]
    assert found.actions.tolist() == [action]
    assert found.visited.tolist() == [visited]


@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", DOTS])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**40), plies=st.integers(0, 14), depth=st.integers(1, 6))
def test_all_searches_give_the_same_value_and_action(name, seed, plies, depth):
    game = GAMES[name]
    state, evaluation = position_after(game, plies, seed), evaluation_for(game)
    results = {}
    for algorithm, ordered, bits in VARIANTS:
        searcher = Searcher(game, evaluation, algorithm, SearchParameters(ordered=ordered, table_bits=bits))
        results[algorithm, ordered, bits] = searcher.search(state, depth)
        # A table that earlier searches have filled changes nothing.
        again = searcher.search(state, depth)
        first = results[algorithm, ordered, bits]
        assert (again.value, again.action) == (first.value, first.action)
    assert len({(result.value, result.action) for result in results.values()}) == 1
    most = results["minimax", False, 0].visited
    assert all(results["alpha_beta", *rest].visited <= most for rest in ((False, 0), (True, 10)))


class Outcomes(FeatureEvaluation):
    """Values on the scale of outcomes."""

    predicts_outcome = True


@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", DOTS])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**40), plies=st.integers(0, 6), scale=st.sampled_from([0.0003, 0.01]))
def test_a_first_search_in_a_small_window_changes_no_value_or_action(name, seed, plies, scale):
    # With the smaller scale most values are in the window, with the larger one few.
    game = GAMES[name]
    state, evaluation = position_after(game, plies, seed), evaluation_for(game)
    weights = {name: scale * weight for name, weight in evaluation.weights.items()}
    evaluation = Outcomes(**vars(evaluation) | {"win": 1.0, "margin": 0.0, "weights": weights})
    results = [Searcher(game, evaluation, one).search(state, MIN_WINDOW_DEPTH) for one in ALGORITHMS]
    assert len({(result.value, result.action) for result in results}) == 1


@pytest.mark.parametrize("depth", [3, 5])
def test_a_pass_that_cuts_a_position_off_is_not_tried_in_others(depth):
    # On 8x8 squares the number of a pass, 64, is not a bit of a word.
    game = make_game("othello")
    state = game.state_at(torch.tensor([[9108673393721858, -517737276403548932]]))
    values = [
        make_player(f"search:{algorithm}?depth={depth}&evaluation=pretrained", game).searcher.search(state, depth).value
        for algorithm in ALGORITHMS
    ]
    assert len(set(values)) == 1


@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", DOTS])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**40), plies=st.integers(0, 12), depth=st.integers(1, 5))
def test_the_principal_variation_leads_to_the_value(name, seed, plies, depth):
    game = GAMES[name]
    state, evaluation = position_after(game, plies, seed), evaluation_for(game)
    for algorithm, ordered, bits in VARIANTS:
        result = Searcher(game, evaluation, algorithm, SearchParameters(ordered=ordered, table_bits=bits)).search(
            state, depth
        )
        leaf = state
        for action in result.principal_variation:
            leaf = game.step(leaf, torch.tensor([action]))
        sign = 1 if bool(leaf.current_player == state.current_player) else -1
        assert sign * float(position_values(evaluation, game, leaf)) == result.value
        assert len(result.principal_variation) == depth or bool(leaf.terminated)
        assert result.principal_variation[:1] == (() if bool(state.terminated) else (result.action,))


def plies_to_the_end(graph: PositionGraph, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """int64[N]: the plies until the end of the match, if wins are taken as soon and losses as late as possible."""
    plies = np.zeros(len(graph), dtype=np.int64)
    for group in graph.backwards():
        keeps = optimal_actions(graph, values)[group]
        following = plies[graph.children[group]]
        soonest, latest = np.where(keeps, following, 99).min(axis=1), np.where(keeps, following, -1).max(axis=1)
        plies[group] = np.where(values[group] > 0, soonest, latest) + 1
    return plies


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tictactoe_searched_to_the_end_is_perfect_play_that_wins_soon_and_loses_late(algorithm):
    graph = positions_of("tictactoe")
    values, open_positions = perfect_values(graph), ~graph.terminated
    searcher = Searcher(graph.game, make_evaluation("none", graph.game), algorithm)
    found = searcher.search_batch(graph.state, 9)
    assert found.values.tolist() == values.tolist()
    plies = plies_to_the_end(graph, values)
    following = plies[graph.children]
    on_time = (following + 1 == plies[:, None]) | (values == 0)[:, None]
    best = optimal_actions(graph, values) & on_time
    assert found.actions[open_positions].tolist() == best[open_positions].argmax(axis=1).tolist()
    assert set(found.actions[graph.terminated]) == {-1}
    lengths = (found.variations != -1).sum(axis=1)
    decided = values != 0
    assert lengths[decided].tolist() == plies[decided].tolist()


WON_AT_ONCE = ["4", "4", "3", "4", "1", "1", "3", "5", "4", "1"]
# . . . . . . .
# . . . . . . .
# . . . X . . .
# O . . O . . .     X wins at once in column 2, and later after any other move
# O . X O . . .
# X . X X O . .
LOST_SOON_OR_LATER = ["4", "6", "6", "3", "6", "2", "4", "5", "6", "5", "2", "3", "5"]
# . . . . . . .
# . . . . . . .
# . . . . . X .
# . . . . X X .     X wins in column 6 at once, unless O moves there, which delays the loss by two plies
# . X O X O X .
# . O O X O O .


@pytest.mark.parametrize(("algorithm", "ordered", "bits"), VARIANTS[-1:])
def test_a_win_at_once_is_preferred_and_a_loss_is_delayed(algorithm, ordered, bits):
    game = make_game("connect_four")
    searcher = Searcher(
        game, make_evaluation("none", game), algorithm, SearchParameters(ordered=ordered, table_bits=bits)
    )
    won = searcher.search(game.state_after(WON_AT_ONCE), 5)
    assert (won.value, won.principal_variation) == (1.0, (1,))
    lost = searcher.search(game.state_after(LOST_SOON_OR_LATER), 5)
    assert (lost.value, lost.action, len(lost.principal_variation)) == (-1.0, 5, 4)


# ---------------------------------------------------------------------- values of actions, batches, settings


@pytest.mark.parametrize("name", ["othello_4x4", DOTS])
def test_action_values_are_searches_of_the_next_positions(name):
    game = GAMES[name]
    state = position_after(game, 3, 5)
    searcher = Searcher(game, evaluation_for(game))
    values = searcher.action_values(state, 4)[0]
    result = searcher.search(state, 4)
    assert values.nan_to_num(nan=-np.inf).max() == result.value
    assert int(values.nan_to_num(nan=-np.inf).argmax()) == result.action
    assert values.isnan().tolist() == (~game.legal_action_mask(state)[0]).tolist()


def test_a_batch_is_searched_like_its_positions_one_by_one():
    game = make_game("othello_4x4")
    searcher = Searcher(game, evaluation_for(game))
    states = [position_after(game, plies, 11) for plies in range(13)]
    batch = State(*map(torch.cat, zip(*states, strict=True)))
    found = searcher.search_batch(batch, 3)
    singles = [Searcher(game, evaluation_for(game)).search_batch(state, 3) for state in states]
    assert found.values.tolist() == [float(single.values[0]) for single in singles]
    assert found.actions.tolist() == [int(single.actions[0]) for single in singles]


def test_bad_settings_are_refused():
    game = make_game("tictactoe")
    with pytest.raises(SettingError, match="table_bits=40: must be from 0 to 28"):
        Searcher(game, make_evaluation("none", game), parameters=SearchParameters(table_bits=40))
    with pytest.raises(SettingError, match="depth=1000: must be from 1 to 120"):
        Searcher(game, make_evaluation("none", game)).search(game.init(), 1000)
