"""Values, hints and perfect play in a session."""

import numpy as np
import pytest

from selfplay.errors import NotNowError
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.playing.hints import best_actions, hint, perfect_values
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import Learning, Valuing

# ---------------------------------------------------------------------- values, hints, perfect play


def test_values_are_computed_on_demand_and_once() -> None:
    player = Valuing(GAME)
    session = session_with(player)
    play_on(session, 0, 1)
    assert player.asked == 0
    values = session.action_values()
    assert values is not None
    assert np.isnan(values[[0, 1, 7, 8]]).all()
    assert values[[2, 6]] == pytest.approx([0.02, 0.06])
    session.action_values()
    assert player.asked == 1
    assert session.action_values(0) is not None
    assert player.asked == 2
    session.undo()
    assert session.action_values() is not None
    assert player.asked == 3


def test_the_hint_is_the_best_action_by_the_opponent() -> None:
    session = session_with(Valuing(GAME))
    given = hint(session)
    assert (given.action, given.text, given.source) == (8, "2,2", "valuing")
    assert given.value == pytest.approx(0.08)
    play_on(session, 0, 1, 2)
    with pytest.raises(NotNowError, match="over"):
        hint(session)


@pytest.mark.parametrize(("epsilon", "action"), [(0.0, 0), (1.0, 8)])
def test_a_hint_is_what_the_player_does_and_where_it_explores_what_it_values_most(epsilon: float, action: int) -> None:
    session = session_with(EpsilonGreedyPlayer(GAME, Learning(GAME), [epsilon]))
    assert hint(session).action == action


def test_perfect_values_and_optimal_actions_of_a_position() -> None:
    session = session_with(None)
    play_on(session, 4, 1)
    # . O .    a corner or the left or right edge wins against this edge; only the bottom edge does not
    # . X .
    # . . .
    values = perfect_values(session)
    assert values is not None
    assert np.nan_to_num(values, nan=-9).tolist() == [1, -9, 1, 1, -9, 1, 1, 0, 1]
    assert best_actions(values) == (0, 2, 3, 5, 6, 8)
    before = perfect_values(session, 1)
    assert before is not None
    assert best_actions(before) == (0, 2, 6, 8)
    play_on(session, 0, 8, 3, 5, 6)
    assert session.is_over
    assert perfect_values(session) is None
