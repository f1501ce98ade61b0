"""Values, hints and perfect play in a session."""

import numpy as np
import pytest

from selfplay.errors import NotNowError
from selfplay.games import make_game
from selfplay.players import perfect
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.perfect import PerfectPlayer, perfect_player_of
from selfplay.playing.hints import best_actions, hint, perfect_values
from selfplay.playing.session import Session
from tests.support.pile import Pile
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import FirstLegal, Learning, Valuing

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


def test_no_values_between_two_people_or_against_a_player_without_values() -> None:
    for opponent in (None, FirstLegal(GAME)):
        session = session_with(opponent)
        assert session.action_values() is None
        # Perfect play steps in.
        assert hint(session) == (0, "0,0", 0.0, "perfect", None, None)


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


def test_whether_a_game_is_too_large_to_solve_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    large = make_game("othello")
    session = Session(large, (None, FirstLegal(large)), 0)
    assert perfect_values(session) is None
    monkeypatch.setattr(perfect, "enumerate_positions", lambda *_: pytest.fail("asked again"))
    assert perfect_values(session) is None
    with pytest.raises(NotNowError, match="Othello is too large to be solved"):
        hint(session)


def test_the_perfect_player_is_made_once() -> None:
    assert perfect_player_of(GAME) is perfect_player_of(make_game("tictactoe"))
    assert isinstance(perfect_player_of(Pile()), PerfectPlayer)


def test_a_ply_says_whether_an_exploring_player_acted_at_random() -> None:
    for epsilon, is_random in ((1.0, True), (0.0, False)):
        player = EpsilonGreedyPlayer(GAME, FirstLegal(GAME), [epsilon])
        session = session_with(player, first_player=1)
        assert session.advance().is_random is is_random
