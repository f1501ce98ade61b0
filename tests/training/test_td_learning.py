"""Temporal-difference learning of tables: lambda-returns, step sizes, and the matches that values are learned from."""

import numpy as np
import pytest
import torch

from selfplay.architectures import build_network
from selfplay.games import make_game
from selfplay.games.outcomes import disc_difference, match_return
from selfplay.games.pattern_planes import seeing
from selfplay.games.pattern_sums import images_of_squares
from selfplay.matches.series import Series
from selfplay.players.exploring import exploring
from selfplay.players.player import RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer, best_values
from selfplay.search.exact_solver import empties, make_exact_solver
from selfplay.search.searcher import Searcher
from selfplay.training.parameters import StepSizes
from selfplay.training.searched_matches import play_searched
from selfplay.training.td_learning import (
    TrainingMatches,
    learn_row,
    step_sizes,
    td_learn,
    unchanged,
    write_exact_values,
)
from selfplay.training.td_matches import (
    MatchParameters,
    SelfPlay,
    compile_self_play,
    new_scratch,
    no_afterstates,
    write_lambda_returns,
)
from tests.support.dots import Dots

OPTIONS = {
    # Each move changes one square, so only the entries of this square are looked up again.
    "tictactoe": {"patterns": ["xx/.x", "xxx", "x/x/x"], "parities": True, "drops": True, "symmetries": "mirror"},
    # Discs are turned, and players pass; entries share weights.
    "othello_4x4": {"patterns": ["xx/xx", "xxxx"], "symmetries": "square", "phases": 3},
}
# The same player may move again; stones are captured and crowned, and the board is turned.
AGAIN = {
    "dots": {"patterns": [".x./xxx/.x.", "...x./..xxx/...x.", "//.x./xxx/.x.", "//...x./..xxx/...x."], "marks": 2},
    "draughts": {
        "patterns": [f"{'/' * row}.x.x.x.x/x.x.x.x" for row in (0, 2, 4, 6)],
        "marks": 2,
        "upright": 4,
        "sets": [5, 6],
    },
}


def network_of(name, scale=0.3):
    game = Dots() if name == "dots" else make_game(name)
    options = (OPTIONS | AGAIN)[name]
    network = build_network({"name": "ntuple", **options}, game.observation_shape, game.num_distinct_actions)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        network.weight.copy_(scale * torch.randn(network.weight.shape, generator=generator))
    return game, network


def how_to_play(epsilon, outcome=(1.0, 0.0), key=11):
    return MatchParameters(key, np.array([epsilon]), np.array(outcome), opening_plies=0)


def lambda_returns(values, best, explored, trace_decay, discount=1.0, exact=None, again=False):
    played = no_afterstates(1, len(values))
    played.values[0], played.best[0], played.explored[0], played.plies[0] = values, best, explored, len(values) - 1
    played.exact[0], played.again[0] = len(values) - 1 if exact is None else exact, again
    write_lambda_returns(played, trace_decay, discount, 0, 1)
    return played.targets[0, :-1].tolist()


def test_a_lambda_return_mixes_the_next_value_with_the_next_return():
    # -0.5 * 1 - 0.5 * 1; -(0.5 * -0.4 + 0.5 * -1); -(0.5 * 0.2 + 0.5 * 0.7)
    values = [0.3, 0.2, -0.4, 1.0]
    assert lambda_returns(values, values, [False] * 4, 0.5) == pytest.approx([-0.45, 0.7, -1.0])


def test_a_lambda_return_is_discounted_at_each_ply():
    # 0.5 * -1; 0.5 * -(0.5 * -0.4 + 0.5 * -0.5); 0.5 * -(0.5 * 0.2 + 0.5 * 0.225)
    values = [0.3, 0.2, -0.4, 1.0]
    assert lambda_returns(values, values, [False] * 4, 0.5, discount=0.5) == pytest.approx([-0.10625, 0.225, -0.5])


def test_a_lambda_return_is_cut_where_the_player_explored():
    values, best = [0.3, 0.2, -0.4, 1.0], [0.3, 0.2, 0.6, 1.0]
    explored = [False, False, True, False]
    # The second one is the value of the best action, -0.6; the first one goes on from there: -(0.5 * 0.2 - 0.5 * 0.6)
    assert lambda_returns(values, best, explored, 0.5) == pytest.approx([0.2, -0.6, -1.0])


def test_an_exact_value_is_the_target_and_ends_the_match_for_earlier_afterstates():
    # -(0.5 * -1 + 0.5 * -1): neither the outcome nor the exploring action that follow count.
    values, best, explored = [0.3, 0.2, -1.0, 0.4, 1.0], [0.3, 0.2, -1.0, 0.9, 1.0], [False, False, False, True, False]
    assert lambda_returns(values, best, explored, 0.5, exact=2) == pytest.approx([-0.6, 1.0, -1.0, 0.4])


def test_step_sizes_fall_exponentially_with_the_coherence():
    rates = step_sizes(StepSizes(step_size=0.01, sharpness=2.7))
    assert rates[-1] == pytest.approx(0.01)
    assert rates[len(rates) // 2] == pytest.approx(0.01 * np.exp(-1.35))
    assert rates[0] == pytest.approx(0.01 * np.exp(-2.7))
    decaying = StepSizes(step_size=0.04, level_decay=0.5)
    assert step_sizes(decaying, level=3)[-1] == pytest.approx(0.01)
    assert set(step_sizes(StepSizes(step_size=0.02, sharpness=0)).tolist()) == {np.float32(0.02)}


@pytest.mark.parametrize("name", OPTIONS)
def test_learning_changes_weights_like_plain_python(name):
    _, network = network_of(name, scale=0.05)
    settings = StepSizes(step_size=0.05)
    generator = np.random.default_rng(3)
    squares = network.num_squares
    played = no_afterstates(40, 5)
    filled, first = generator.random((2, 40, 5, squares)) < 0.5
    bits = 1 << np.arange(squares)
    played.positions[:] = 0
    played.positions[..., :2] = np.stack([(filled & ~first) @ bits, (filled & first) @ bits], axis=2)
    played.targets[:] = generator.uniform(-1, 1, played.targets.shape)
    played.plies[:] = generator.integers(0, 6, 40)
    played.first[:] = 0

    tables = network.trainable_tables()
    expected = tables.weights.reshape(-1).astype(np.float64)
    changes = np.zeros((expected.size, 2))
    squared = {}
    for match, plies in enumerate(played.plies):
        for ply in range(plies):
            stones = [(words >> np.arange(squares)) & 1 for words in played.positions[match, ply, 1::-1]]
            boards = torch.tensor(np.stack(stones).reshape(1, 2, *network.board), dtype=torch.float32)
            numbers = network.weight_indices(boards)[0].tolist()
            value = np.tanh(expected[numbers].sum())
            error = played.targets[match, ply] - value
            squared[match, ply] = error**2
            change = error * (1 - value**2)
            for number in numbers:
                total, size = changes[number]
                coherence = abs(total) / size if size else 1.0
                expected[number] += 0.05 * np.exp(2.7 * (coherence - 1)) * change
                changes[number] += change, abs(change)

    found, errors = unchanged(tables), np.full(played.targets.shape, np.nan)
    for phase in range(len(tables.weights)):
        learn_row(40, played, tables, found, step_sizes(settings), errors, phase)
    np.testing.assert_allclose(tables.weights.reshape(-1), expected, rtol=0, atol=2e-4)
    np.testing.assert_allclose(found.reshape(-1, 2), changes, rtol=0, atol=2e-3)
    assert {place: errors[place] for place in squared} == pytest.approx(squared, abs=2e-3)
    assert np.isfinite(errors).sum() == len(squared)


def test_a_lambda_return_keeps_its_sign_where_the_same_player_moves_again():
    # 0.5 * -0.4 + 0.5 * -1, then -(0.5 * 0.2 + 0.5 * -0.7); the cut return is the other player's value: -0.6.
    values, best, again = [0.3, 0.2, -0.4, 1.0], [0.3, 0.2, 0.6, 1.0], [False, False, True, False]
    assert lambda_returns(values, values, [False] * 4, 0.5, again=again) == pytest.approx([0.25, -0.7, -1.0])
    assert lambda_returns(values, best, [False, False, True, False], 0.5, again=again)[1] == pytest.approx(-0.6)


@pytest.mark.parametrize("name", ["tictactoe", pytest.param("othello_4x4", marks=pytest.mark.slow)])
def test_without_later_returns_a_target_is_the_value_of_the_best_reply(name):
    """The value that a player finds one ply ahead, though matches are played with changed entries."""
    game, network = network_of(name)
    played = matches_of(game, network, how_to_play(epsilon=0.5))
    write_lambda_returns(played, 0.0, 1.0, 0, len(played.plies))
    states = states_of(game, played)
    replies = best_values(ValueNetPlayer(game, network).action_values(states))
    targets = np.concatenate([row[:plies] for row, plies in zip(played.targets, played.plies, strict=True)])
    np.testing.assert_allclose(targets, -replies.numpy(), rtol=0, atol=1e-5)
    assert (
        len({tuple(words[:plies].reshape(-1)) for words, plies in zip(played.positions, played.plies, strict=True)})
        > 20
    )


@pytest.mark.slow
def test_matches_where_a_player_moves_again_are_those_of_a_search_of_one_ply():
    """The search values whole positions, and the rules of the library say who is to move."""
    game, network = network_of("dots")
    how = how_to_play(epsilon=0.0)._replace(opening_plies=6)
    played, searched = matches_of(game, network, how), no_afterstates(30, game.max_game_length)
    searcher = Searcher(game, network.evaluation("tables", game, 1.0, 0.0), "negascout")
    player = exploring(game, SearchPlayer(searcher, 1), [0.0], 6, keeps_values=True)
    play_searched(game, player, how, network.planes, 0, searched, 0, 30)
    assert played.plies.tolist() == searched.plies.tolist()
    for row, (plies, first) in enumerate(zip(played.plies, played.first, strict=True)):
        for field in ("positions", "again"):
            assert np.array_equal(getattr(played, field)[row, :plies], getattr(searched, field)[row, :plies])
        after_opening = slice(first + 1, plies + 1)
        for field in ("values", "best"):
            found, expected = (getattr(matches, field)[row, after_opening] for matches in (played, searched))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert played.again[:, : played.plies.min()].any()


@pytest.mark.parametrize(
    ("name", "outcome", "few"),
    [
        ("othello_4x4", disc_difference, 6),
        pytest.param("connect_four", match_return, 24, marks=pytest.mark.slow),
    ],
)
def test_late_afterstates_have_their_exact_values(name, outcome, few):
    game = make_game(name)
    played = random_matches(game)
    before, rows = played.values.copy(), len(played.plies)
    solver = make_exact_solver(game, 10)
    write_exact_values(solver, np.array(outcome(game)), few, played, 1, rows)
    win, point = outcome(game)
    seen = set()
    for row in range(rows):
        plies = int(played.plies[row])
        states = game.state_at(torch.from_numpy(played.positions[row, :plies, :2]))
        late = (empties(game, states) <= few) & (row > 0)
        assert played.exact[row] == plies - int(late.sum())
        for ply in range(plies):
            if late[ply]:
                value = solver.value(states, ply)
                seen.add(int(np.sign(value)))
                assert played.values[row, ply] == -(win * np.sign(value) + point * value)
            else:
                assert played.values[row, ply] == before[row, ply]
    assert len(seen) > 1


def test_learned_tables_seldom_lose_to_the_random_player():
    game = make_game("tictactoe")
    network = build_network({"name": "ntuple", "symmetries": "square"}, game.observation_shape, 9)
    settings = StepSizes(step_size=0.3)
    tables = network.trainable_tables()

    def losses():
        players = ValueNetPlayer(game, network), RandomPlayer(game)
        return Series(range(200), 5).play(game, players).results.losses

    before = losses()
    td_learn(game, tables, TrainingMatches(number=4000, epsilons=[0.2], seed=11), settings, threads=1)
    assert before > 40
    assert losses() < 10


def matches_of(game, network, how, number=30):
    """Matches that `network` plays without learning from them."""
    tables = network.trainable_tables()
    played = no_afterstates(number, game.max_game_length)
    using = SelfPlay(how, tables, images_of_squares(tables), new_scratch(len(tables.offsets)))
    compile_self_play(game.rules, game.pass_action, seeing(game, network.planes))(0, using, played, 0, number)
    return played


def random_matches(game, number=30):
    """Matches at random, with random values of their unfinished positions."""
    player, played = RandomPlayer(game), no_afterstates(number, game.max_game_length)
    states = next(Series(range(number), 5).records(game, (player, player))).states[1:]
    played.positions[:, : len(states), :2] = np.stack([state.position for state in states], axis=1)
    played.values[:] = np.random.default_rng(3).uniform(-1, 1, played.values.shape)
    played.plies[:] = played.exact[:] = np.sum([~state.terminated.numpy() for state in states], axis=0)
    return played


def states_of(game, played):
    """The positions after the afterstates that values are learned for."""
    positions = [row[:plies, :2] for row, plies in zip(played.positions, played.plies, strict=True)]
    return game.state_at(torch.from_numpy(np.concatenate(positions)))
