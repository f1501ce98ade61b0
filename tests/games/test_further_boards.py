"""Games whose positions have a further board, of more than 64 squares, that changes nothing: every result is that of
the same game without it."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from selfplay import play_matches
from selfplay.agents.network_evaluator import EvaluationCache
from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.positions import position, squares
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.dataset.match_rows import discounted_rows
from selfplay.games import Game, State, make_game
from selfplay.games.conformance import check_game
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.position_graph import enumerate_positions, perfect_values
from selfplay.games.rules import Rules
from selfplay.players.player import RandomPlayer
from selfplay.search.feature_evaluation import RESULT_ONLY
from selfplay.search.mcts.evaluator import PositionValues, RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.search.searcher import Searcher, SearchParameters

STEP = 9
"""A bit of the further board is set for each ply, this many bits apart."""


def wider(name: str) -> Game:
    """The game, whose positions have two boards, with a third that is determined by the number of plies."""
    game = make_game(name)
    _, legal_actions, play, is_terminal, return_to_move, *_ = game.rules
    narrow = game.rules.position
    size = narrow.place("own").bits

    @position
    class Wide(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)
        plies: Word = squares(128)

    @rule
    def wide_legal_actions(p):
        return legal_actions(narrow(p.own, p.opp))

    @rule
    def wide_play(p, action):
        following = play(narrow(p.own, p.opp), action)
        return Wide(following.own, following.opp, p.plies << STEP | 1)

    @rule
    def wide_is_terminal(p):
        return is_terminal(narrow(p.own, p.opp))

    @rule
    def wide_return_to_move(p):
        return return_to_move(narrow(p.own, p.opp))

    @rule
    def observed(p):
        return narrow(p.own, p.opp)

    game.rules = Rules(
        Wide(*game.rules.initial, 0),
        wide_legal_actions,
        wide_play,
        wide_is_terminal,
        wide_return_to_move,
        observed,
    )
    return game


def low_parts(state: State) -> list[Any]:
    """The fields of a state, without the further board."""
    return [state.position[:, :2].tolist(), *(field.tolist() for field in state[1:])]


def records(game: Game, matches: int = 40) -> list[Any]:
    player = RandomPlayer(game)
    record = next(play_matches(game, (player, player), range(matches), stream_key(0, 0, Activity.GENERATION)))
    return [[low_parts(state) for state in record.states], record.action_sequences().tolist()]


def test_random_matches_are_the_same() -> None:
    assert records(wider("tictactoe")) == records(make_game("tictactoe"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "tictactoe_8x8", "gomoku_3x3"])
def test_the_game_conforms_and_its_matches_are_the_same(name: str) -> None:
    check_game(wider(name))
    assert records(wider(name)) == records(make_game(name))


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
        first, inverse = distinct_positions(record.states[5].position)
        rows = discounted_rows(game, record)
        found.append([first.tolist(), inverse.tolist(), rows.position[:, :2].tolist(), rows.target.tolist()])
    assert found[0] == found[1]


def middle_of_match(game: Game, plies: int = 3, matches: int = 20) -> State:
    state = game.init(matches)
    for ply in range(plies):
        state = game.step_unchecked(state, game.kernels.random_actions(state, Draws(3, torch.arange(matches), ply)))
    return state


@pytest.mark.slow
def test_alpha_beta_finds_the_same_with_a_table_and_uncompiled() -> None:
    found = []
    for game in (make_game("tictactoe"), wider("tictactoe")):
        searcher = Searcher(game, RESULT_ONLY, parameters=SearchParameters(table_bits=10))
        result = searcher.search_batch(middle_of_match(game), 6)
        traced, trace = searcher.trace(middle_of_match(game, matches=1), 2)
        found.append([*(field.tolist() for field in result[:2]), result.final.tolist(), traced, len(trace.visits)])
    assert found[0] == found[1]


class Hashed:
    """Evaluates a position by its stones, as numbers."""

    name, ends = "hashed", RolloutEvaluator.ends

    def __init__(self, game: Game) -> None:
        self.game = game
        self.cache = EvaluationCache(game.num_distinct_actions, 1 << 16, game.rules.position.num_words)

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
