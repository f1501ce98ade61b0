"""Perfect play by an exact solver: Connect Four."""

import numpy as np
import pytest

from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.perfect import SolverPlayer, perfect_player_of

GAME = make_game("connect_four")


@pytest.fixture(scope="module")
def player() -> SolverPlayer:
    player = perfect_player_of(GAME)
    assert isinstance(player, SolverPlayer)
    return player


def test_the_name_perfect_makes_a_solver_player():
    assert isinstance(make_player("perfect?ties=lowest", GAME, ""), SolverPlayer)


@pytest.mark.parametrize(
    ("columns", "best", "texts"),
    [
        # X has three in a row at the bottom: columns 1 to 3. Column 4 wins at once.
        ("1 7 2 7 3 7", {3}, {3: "wins in 1"}),
        # O to move must block in column 4, or X wins with its next stone.
        ("1 7 2 7 3", {3}, {0: "loses in 1"}),
    ],
)
def test_the_best_actions_are_taken_and_values_put_into_words(player, columns, best, texts):
    state = GAME.state_after(columns.split())
    values = player.action_values(state)[0].numpy()
    policy = player.policy(state)[0].numpy()
    assert set(np.flatnonzero(policy)) == best
    assert {action: player.value_text(values[action], state) for action in texts} == texts
