"""All positions of the small games, counted and linked."""

import numpy as np
import pytest
import torch

from selfplay.compute.bit_algebra import rule
from selfplay.errors import ConformanceError, GameTooLargeError, IllegalActionError
from selfplay.games import make_game
from selfplay.games.position_graph import (
    NO_CHILD,
    enumerate_positions,
    is_surely_larger,
    perfect_values,
    positions_of,
)
from selfplay.grading.proof import Grader
from selfplay.players.perfect import PerfectPlayer
from selfplay.players.player import RandomPlayer
from selfplay.playing.session import Session
from tests.support.dots import Dots, TwoBoxes
from tests.support.pendulum import CountedPendulum, Pendulum


def test_tictactoe_has_5478_positions_of_which_958_are_final():
    graph = positions_of("tictactoe")
    assert len(graph) == 5478
    assert graph.terminated.sum() == 958


def test_what_takes_a_game_or_its_positions_takes_its_name():
    graph = positions_of("tictactoe")
    assert enumerate_positions(graph) is graph
    assert np.array_equal(perfect_values("tictactoe"), perfect_values(graph))
    assert PerfectPlayer("tictactoe").game.name == "tictactoe"
    assert RandomPlayer("tictactoe").game.name == "tictactoe"
    assert Session("tictactoe", (None, None), key=0).play(4).text == "1,1"


def test_the_final_positions_of_tictactoe_are_942_won_and_16_drawn():
    # 626 boards won by X, 316 won by O: whoever is to move has lost.
    graph = positions_of("tictactoe")
    final = graph.return_to_move[graph.terminated]
    assert (np.sum(final == -1), np.sum(final == 0), np.sum(final == 1)) == (942, 16, 0)
    assert not graph.return_to_move[~graph.terminated].any()


@pytest.mark.parametrize("name", ["tictactoe", "sumto100", TwoBoxes()])
def test_children_are_the_positions_that_legal_actions_lead_to(name):
    graph = positions_of(name)
    mask = graph.game.legal_action_mask(graph.state)
    assert (graph.legal == mask.numpy()).all()
    assert (graph.children[~graph.legal] == NO_CHILD).all()
    parents, actions = mask.nonzero(as_tuple=True)
    following = graph.game.step(graph.state.select(parents), actions)
    children = torch.from_numpy(graph.children)[parents, actions].long()
    assert torch.equal(graph.state.position[children], following.position)
    # All positions are those of player 0.
    assert (graph.moves_again[children.numpy()] == (following.current_player == 0).numpy()).all()


def test_a_game_with_more_positions_than_the_limit_is_refused():
    assert len(enumerate_positions(make_game("tictactoe"), limit=5478)) == 5478
    with pytest.raises(
        GameTooLargeError, match="tictactoe has more than 5,477 positions, too many to enumerate; choose a smaller game"
    ):
        enumerate_positions(make_game("tictactoe"), limit=5477)


def test_random_matches_prove_that_a_large_game_is_large():
    name = "othello"
    assert is_surely_larger(make_game(name), 100_000)
    with pytest.raises(GameTooLargeError, match=f"{name} has more than 100,000 positions"):
        enumerate_positions(make_game(name), limit=100_000)


@pytest.mark.parametrize("name", ["tictactoe", "sumto100", TwoBoxes()])
def test_positions_are_found_by_their_words(name):
    graph = positions_of(name)
    shuffled = np.random.default_rng(0).permutation(len(graph))
    assert (graph.numbers(graph.state.select(torch.from_numpy(shuffled))) == shuffled).all()


@pytest.mark.parametrize(("own", "opp"), [(0o7, 0o70), (1 << 40, 0)])
def test_a_position_that_cannot_be_reached_is_refused(own, opp):
    graph = positions_of("tictactoe")
    state = graph.game.state_at(torch.tensor([[0, 0], [own, opp]]))
    with pytest.raises(IllegalActionError, match="tictactoe: a position that cannot be reached"):
        graph.numbers(state)


def best_lead(game, state, lead_of_first):
    """By how many boxes player 0 wins at most, by search of all lines, in plain Python."""
    key = state.key()
    if key not in lead_of_first:
        actions = game.legal_action_mask(state)[0].nonzero()[:, 0]
        leads = [best_lead(game, game.step(state, action[None]), lead_of_first) for action in actions]
        best = max if int(state.current_player) == 0 else min
        lead_of_first[key] = best(leads) if leads else float(game.score(state))
    return lead_of_first[key]


def test_values_count_moves_of_the_same_player_in_a_row():
    game, found = TwoBoxes(), {}
    best_lead(game, game.init(), found)
    graph = positions_of(game)
    values, movers = perfect_values(graph), graph.movers
    assert (len(found), graph.moves_again.sum()) == (movers.sum(), 17)
    for number, position in enumerate(graph.state.position.tolist()):
        for player in np.flatnonzero(movers[:, number]):
            assert values[number] == np.sign(found[*position, player]) * (1 - 2 * player)
    # The first player wins 3 to 1 in two rows of two boxes.
    assert perfect_values(positions_of(Dots()))[0] == 1


@rule
def never(p):
    return False


@rule
def on_the_board(p):
    return 0b11 - (p.stone & 1) - ((p.stone >> 4) & 1) * 2


class Endless(Pendulum):
    """The stone cannot pass the ends, and no match ends."""

    rules = Pendulum.rules._replace(
        legal_actions=on_the_board,
        is_terminal=never,
    )


@pytest.mark.parametrize("game", [Pendulum(), Endless()])
def test_no_values_are_computed_where_positions_repeat(game):
    graph = enumerate_positions(game)
    assert len(graph) == 5
    for computed in (lambda: perfect_values(graph), lambda: graph.movers, lambda: Grader(game)):
        with pytest.raises(
            ConformanceError, match=r"^(pendulum|Endless): positions can repeat, so matches need not end; count"
        ):
            computed()


def test_with_a_counter_of_plies_such_a_game_has_values():
    graph = enumerate_positions(CountedPendulum())
    # Whoever moves the stone from the middle loses: the other moves it to the end.
    assert perfect_values(graph)[0] == -1
    assert int(graph.heights[0]) == 8
