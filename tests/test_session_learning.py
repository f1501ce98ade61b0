"""A session: what is counted and learned, once and as a whole, and who takes over."""

import numpy as np
import pytest

from selfplay.session import HUMAN, Session
from tests.session_play import GAME, go_on, session_with
from tests.stub_players import FirstLegal, Learning, Valuing

# ---------------------------------------------------------------------- counting and learning


def test_a_learner_is_shown_each_finished_match_once() -> None:
    learner = Learning(GAME)
    session = session_with(learner)
    go_on(session, 0, 4, 8)
    session.new_match(1)
    go_on(session, 8)
    # That one is given up.
    session.new_match()
    go_on(session, 3, 4)
    assert learner.seen == [(0, [0, 1, 4, 2, 8], 1.0, (1,)), (2, [0, 3, 1, 4, 2], 1.0, (0,))]
    assert session.results == (2, 0, 1, 1, 0)
    assert session.standing() == "match 2: X won 2 (1.000), O won 0 (0.000), drawn 0 (0.000); seen 2"


def test_a_learner_against_itself_is_shown_a_match_once_with_both_seats() -> None:
    learner = Learning(GAME)
    session = Session(GAME, (learner, learner), 0)
    go_on(session)
    assert [seats for _, _, _, seats in learner.seen] == [(0, 1)]


def test_after_an_end_is_taken_back_the_match_is_practice() -> None:
    learner = Learning(GAME)
    session = session_with(learner, first=1)
    go_on(session, 3, 4)
    assert session.result_text == "X wins."
    before = session.standing()
    assert not session.is_practice
    session.undo()
    assert session.is_practice
    for _ in range(2):
        go_on(session, 4)
        assert session.is_over
        session.undo()
    assert (len(learner.seen), session.results.matches, session.standing()) == (1, 1, before)
    session.new_match()
    assert not session.is_practice
    go_on(session, 3, 4)
    assert (len(learner.seen), session.results.matches) == (2, 2)


def test_the_values_before_a_ply_are_those_from_before_the_learning() -> None:
    session = session_with(Learning(GAME))
    go_on(session, 0, 4, 8)
    # 0 X, 1 O, 4 X, 2 O: before its second reply the square 2 was worth 0.02, and still is.
    values = session.action_values(3)
    assert values is not None
    assert values[2] == pytest.approx(0.02)


# ---------------------------------------------------------------------- another player takes over


def test_another_player_takes_over_where_the_match_stands() -> None:
    session = session_with(FirstLegal(GAME))
    go_on(session, 4)
    assert session.action_values() is None
    session.take_over(1, Valuing(GAME))
    assert (session.names, [ply.action for ply in session.plies]) == ((HUMAN, "valuing"), [4, 0])
    values, before = session.action_values(), session.action_values(0)
    assert values is not None
    assert before is not None
    assert values[8] == before[8] == np.float32(0.08)
    session.play(1)
    assert session.advance().action == 8
    # The results of the one before are not the new one's.
    go_on(session, 7)
    assert session.results.matches == 1
    session.take_over(0, FirstLegal(GAME))
    assert (session.results.matches, session.names[0]) == (0, "first legal")
