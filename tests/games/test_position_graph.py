"""All positions of the small games, counted and linked."""

import numpy as np
import pytest
import torch

from selfplay.errors import GameTooLargeError, IllegalActionError
from selfplay.games import make_game
from selfplay.games.position_graph import NO_CHILD, enumerate_positions, is_surely_larger

TICTACTOE = enumerate_positions(make_game("tictactoe"))
SUMTO100 = enumerate_positions(make_game("sumto100"))


def test_tictactoe_has_5478_positions_of_which_958_are_final():
    assert len(TICTACTOE) == 5478
    assert TICTACTOE.terminated.sum() == 958


def test_the_final_positions_of_tictactoe_are_942_won_and_16_drawn():
    # 626 boards won by X, 316 won by O: whoever is to move has lost.
    final = TICTACTOE.return_to_move[TICTACTOE.terminated]
    assert (np.sum(final == -1), np.sum(final == 0), np.sum(final == 1)) == (942, 16, 0)
    assert not TICTACTOE.return_to_move[~TICTACTOE.terminated].any()


@pytest.mark.parametrize("graph", [TICTACTOE, SUMTO100], ids=["tictactoe", "sumto100"])
def test_children_are_the_positions_that_legal_actions_lead_to(graph):
    mask = graph.game.legal_action_mask(graph.state)
    assert (graph.legal == mask.numpy()).all()
    assert (graph.children[~graph.legal] == NO_CHILD).all()
    parents, actions = mask.nonzero(as_tuple=True)
    following = graph.game.step(graph.state.select(parents), actions)
    children = torch.from_numpy(graph.children)[parents, actions].long()
    assert torch.equal(graph.state.own[children], following.own)
    assert torch.equal(graph.state.opp[children], following.opp)


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


@pytest.mark.parametrize("graph", [TICTACTOE, SUMTO100], ids=["tictactoe", "sumto100"])
def test_positions_are_found_by_their_words(graph):
    shuffled = np.random.default_rng(0).permutation(len(graph))
    assert (graph.numbers(graph.state.select(torch.from_numpy(shuffled))) == shuffled).all()


@pytest.mark.parametrize(("own", "opp"), [(0o7, 0o70), (1 << 40, 0)])
def test_a_position_that_cannot_be_reached_is_refused(own, opp):
    state = TICTACTOE.game.state_at(torch.tensor([0, own]), torch.tensor([0, opp]))
    with pytest.raises(IllegalActionError, match="tictactoe: a position that cannot be reached"):
        TICTACTOE.numbers(state)
