"""Sessions that continue a match: its moves are taken again, and its end does not count twice."""

import pytest

from selfplay.errors import IllegalActionError, NotNowError
from selfplay.games import make_game
from selfplay.playing.hints import best_line
from selfplay.playing.session import Session
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import FirstLegal, Learning, Valuing


def test_a_match_is_continued_after_its_moves() -> None:
    session = session_with(Valuing(GAME))
    session.resume([0, 8])
    assert [(ply.seat, ply.by_person) for ply in session.plies] == [(0, True), (1, False)]
    assert (session.awaits_person, session.is_practice, session.can_undo) == (True, False, True)
    play_on(session, 1, 2)
    assert session.results.matches == 1


def test_the_end_of_a_resumed_match_is_not_counted_again() -> None:
    learner = Learning(GAME)
    session = session_with(learner)
    session.resume([4, 0, 2, 1, 6])
    assert (session.is_over, session.is_practice, session.results.matches, learner.seen) == (True, False, 0, [])
    session.undo()
    assert session.is_practice
    play_on(session, 6)
    assert learner.seen == []


def test_a_match_that_begins_in_a_position_is_practice() -> None:
    learner = Learning(GAME)
    session = session_with(learner)
    start = GAME.set_up([1, -1, 0, 0, 0, 0, 0, 0, 0], 0)
    session.resume([], start=start)
    assert (session.is_practice, session.state_before(0)) == (True, start)
    play_on(session, 4, 8)
    assert (session.is_over, learner.seen, session.results.matches) == (True, [], 0)
    session.new_match()
    assert (session.is_practice, len(session.plies), int(session.state.own)) == (False, 0, 0)


def test_passes_may_be_left_out() -> None:
    game = make_game("othello_4x4")
    squares = [0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, -1]
    session = Session(game, (None, None), 0)
    for moves in ([7, 3], [16, 7, 3]):
        with pytest.raises(IllegalActionError):
            session.resume(moves, start=game.set_up(squares, 0))
    white = game.set_up(squares, 1)
    legal = game.legal_action_mask(white)[0].nonzero()[:, 0].tolist()
    session.resume(legal[:1], start=game.set_up(squares, 0))
    assert [ply.is_forced for ply in session.plies] == [True, False]


def test_illegal_moves_and_moves_after_the_end_are_refused() -> None:
    session = session_with(FirstLegal(GAME))
    with pytest.raises(IllegalActionError, match="0,0 is not legal here"):
        session.resume([0, 0])
    with pytest.raises(IllegalActionError, match="over after 5 moves, but 6 are given"):
        session.resume([4, 0, 2, 1, 6, 8])


def test_a_match_is_rewound_to_any_ply() -> None:
    session = session_with(FirstLegal(GAME))
    play_on(session, 4, 2)
    assert [ply.action for ply in session.rewind(1)] == [0, 2, 1]
    assert (len(session.plies), session.awaits_person) == (1, False)
    with pytest.raises(NotNowError, match="only 1 plies"):
        session.rewind(2)


def test_the_best_line_follows_the_values_to_the_end() -> None:
    assert best_line(GAME, Valuing(GAME), GAME.init(), 60.0) == [8, 7, 6, 5, 4, 3, 2]
    assert best_line(GAME, FirstLegal(GAME), GAME.init(), 60.0) == []
    assert best_line(GAME, Valuing(GAME), GAME.init(), 0.0) == []
