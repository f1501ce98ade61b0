"""Games whose words are given more bits than they need: every result is that of the same game with words of 64 bits."""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.dataset.csv_file import encode
from selfplay.dataset.match_rows import discounted_rows
from selfplay.games import Game, State, make_game
from selfplay.games.conformance import check_game
from selfplay.games.kernels import distinct_positions
from selfplay.games.position_graph import enumerate_positions, perfect_values
from selfplay.matches.arena import play_matches
from selfplay.players.network_evaluator import EvaluationCache
from selfplay.players.random import RandomPlayer
from selfplay.search.evaluation import FeatureEvaluation
from selfplay.search.mcts.evaluator import PositionValues, RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.search.searcher import Searcher

NOTHING = FeatureEvaluation("none", None, 1.0, 0.0, {})


def wider(name: str, bits: int = 128) -> Game:
    """The same game with words of more bits. Its constants are small numbers, which mean the same at any width."""
    game = make_game(name)
    game.rules = game.rules._replace(word_bits=bits)
    return game


def low_parts(state: State) -> list[Any]:
    """The fields of a state, without the higher parts of its words, which are 0."""
    parts = [words[:, 0] if words.ndim == 2 else words for words in state[:2]]
    assert all(not words[:, 1:].any() for words in state[:2] if words.ndim == 2)
    return [field.tolist() for field in (*parts, *state[2:])]


def records(game: Game, matches: int = 40) -> list[Any]:
    player = RandomPlayer(game)
    record = next(play_matches(game, (player, player), range(matches), stream_key(0, 0, Activity.GENERATION)))
    return [[low_parts(state) for state in record.states], record.action_sequences().tolist()]


@pytest.mark.parametrize(("name", "bits"), [("connect_four", 128), ("hex_3x3", 192), ("sumto100", 128)])
def test_random_matches_are_the_same(name: str, bits: int) -> None:
    assert records(wider(name, bits)) == records(make_game(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "connect_four", "hex_3x3", "breakthrough"])
def test_the_game_conforms_and_its_matches_are_the_same(name: str) -> None:
    for bits in (65, 192):
        check_game(wider(name, bits))
        assert records(wider(name, bits)) == records(make_game(name))


def test_positions_are_enumerated_and_valued_alike() -> None:
    graphs = [enumerate_positions(game) for game in (make_game("tictactoe"), wider("tictactoe"))]
    narrow, wide = graphs
    assert low_parts(wide.state) == low_parts(narrow.state)
    assert np.array_equal(wide.children, narrow.children)
    assert np.array_equal(perfect_values(wide), perfect_values(narrow))
    rows = torch.randint(0, len(wide), (500,), generator=torch.Generator().manual_seed(0))
    assert wide.numbers(wide.state.select(rows)).tolist() == rows.tolist()


def test_distinct_positions_and_rows_are_the_same() -> None:
    found = []
    for game in (make_game("tictactoe"), wider("tictactoe")):
        player = RandomPlayer(game)
        record = next(play_matches(game, (player, player), range(200), 1))
        first, inverse = distinct_positions(record.states[5])
        rows = discounted_rows(game, record)
        words = game.observation_codec.unpack(game.observation_codec.pack(rows.own, rows.opp))
        assert all(map(np.array_equal, words, (rows.own, rows.opp)))
        found.append([first.tolist(), inverse.tolist(), encode([rows], game.observation_codec)])
    assert found[0] == found[1]


def middle_of_match(game: Game, plies: int = 3, matches: int = 20) -> State:
    state = game.init(matches)
    for ply in range(plies):
        state = game.step_unchecked(state, game.kernels.random_actions(state, Draws(3, torch.arange(matches), ply)))
    return state


def test_alpha_beta_finds_the_same_with_a_table_and_uncompiled() -> None:
    found = []
    for game in (make_game("tictactoe"), wider("tictactoe")):
        searcher = Searcher(game, NOTHING, table_bits=10)
        result = searcher.search_batch(middle_of_match(game), 6)
        traced, trace = searcher.trace(middle_of_match(game, matches=1), 2)
        found.append([*(field.tolist() for field in result[:2]), result.final.tolist(), traced, len(trace.visits)])
    assert found[0] == found[1]


class Hashed:
    """Evaluates a position by its stones, as numbers."""

    name, ends = "hashed", RolloutEvaluator.ends

    def __init__(self, game: Game) -> None:
        self.game = game
        self.cache = EvaluationCache(game.num_distinct_actions, 1 << 16, game.rules.word_bits)

    def evaluate(self, state: State) -> PositionValues:
        return self.cache.evaluate(state, self.computed)

    def computed(self, state: State) -> PositionValues:
        bits = self.game.observation_bits(state).long()
        # Sums of integers do not depend on the other positions of the batch.
        value = ((bits * (torch.arange(bits.shape[1]) + 3) ** 5).sum(dim=1) % 2001 - 1000).float() / 1000
        return PositionValues(value, value[:, None] * torch.linspace(-2, 2, self.game.num_distinct_actions))


@pytest.mark.slow
def test_tree_searches_are_the_same_in_lockstep_and_with_kept_trees() -> None:
    found = []
    for game in (make_game("tictactoe"), wider("tictactoe")):
        search, results = TreeSearch(game, Hashed(game), make_rule("puct"), 60, reuse=True), []
        for ply in range(4):
            draws = Draws(5, torch.arange(20), ply)
            results.append(search.search(middle_of_match(game, plies=ply), draws))
        found.append([field.nan_to_num(7).tolist() for result in results for field in result])
    assert found[0] == found[1]


@pytest.mark.slow
def test_rollouts_are_the_same() -> None:
    found = []
    for game in (make_game("tictactoe"), wider("tictactoe")):
        search = TreeSearch(game, RolloutEvaluator(), make_rule("uct"), 100)
        results = search.search(middle_of_match(game), Draws(5, torch.arange(20), 3))
        found.append([field.nan_to_num(7).tolist() for field in results])
    assert found[0] == found[1]
