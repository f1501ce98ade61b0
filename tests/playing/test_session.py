"""A session: whose turn it is, passes, undo, random numbers."""

import pytest
import torch

from selfplay.errors import IllegalActionError, NotNowError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.playing.session import Session
from selfplay.settings.common import PERSON
from tests.support.pile import Pile
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import Drawing, FirstLegal, Valuing

# ---------------------------------------------------------------------- whose turn it is


def test_a_person_and_a_player_alternate_until_the_end() -> None:
    session = session_with(FirstLegal(GAME))
    assert (session.awaits_person, session.match.to_move, session.names) == (True, 0, (PERSON, "first legal"))
    assert session.match.legal_actions() == list(range(9))
    ply = session.play(4)
    assert (ply.seat, ply.action, ply.text, ply.by_person, ply.is_random) == (0, 4, "1,1", True, None)
    ply = session.advance()
    assert (ply.seat, ply.text, ply.by_person, ply.is_forced) == (1, "0,0", False, False)
    assert play_on(session, 2, 6) == [4, 0, 2, 1, 6]
    assert (session.is_over, session.match.winner, session.result_text) == (True, 0, "You win.")
    assert session.match.legal_actions() == []


def test_the_person_can_sit_second_and_two_people_or_two_players_can_play() -> None:
    second = session_with(FirstLegal(GAME), first_player=1)
    assert (second.awaits_person, second.names) == (False, ("first legal", PERSON))
    people = session_with(None)
    assert play_on(people, 0, 3, 1, 4, 2) == [0, 3, 1, 4, 2]
    assert people.result_text == "X wins."
    players = Session(GAME, (FirstLegal(GAME), Valuing(GAME)), 0)
    assert play_on(players) == [0, 8, 1, 7, 2]


def test_squares_that_stay_empty_count_for_the_winner() -> None:
    othello = make_game("othello")
    session = Session(othello, (None, FirstLegal(othello)), 0)
    session.resume(Match(othello).play_all(othello.read_transcript("f5d6c5f4e7f6g5e6")))
    assert othello.points(session.match.state)[0].tolist() == [7, 5]
    session.play(othello.string_to_action("e3"))
    assert session.result_text == "You win. Discs: black 64, white 0."


def test_illegal_actions_and_actions_out_of_turn_are_rejected() -> None:
    session = session_with(FirstLegal(GAME))
    with pytest.raises(NotNowError, match="a person's turn"):
        session.advance()
    for action in (9, -1):
        with pytest.raises(IllegalActionError, match=f"action {action} does not exist; actions are 0 to 8"):
            session.play(action)
    session.play(0)
    with pytest.raises(NotNowError, match="not a person's turn"):
        session.play(1)
    session.advance()
    with pytest.raises(IllegalActionError, match="action 0,0 is not legal here: it is occupied"):
        session.play(0)
    assert len(session.plies) == 2
    play_on(session, 4, 8)
    for act in (session.advance, lambda: session.play(5)):
        with pytest.raises(NotNowError, match="the match is over"):
            act()


# ---------------------------------------------------------------------- passes


def test_a_person_who_can_only_pass_is_not_asked() -> None:
    session = Session(Pile(), (None, FirstLegal(Pile())), 0)
    session.play(1)
    session.advance()
    # The person has two coins, the opponent one.
    assert (session.match.legal_actions(), session.awaits_person) == ([2], False)
    with pytest.raises(NotNowError):
        session.play(2)
    ply = session.advance()
    assert (ply.text, ply.by_person, ply.is_forced) == ("pass", True, True)
    ply = session.advance()
    assert (ply.seat, ply.text, ply.is_forced) == (1, "one", False)
    assert session.awaits_person


def test_undo_does_not_stop_at_a_forced_pass() -> None:
    session = Session(Pile(), (None, FirstLegal(Pile())), 0)
    assert play_on(session, 1) == [1, 0, 2, 0]
    assert [ply.text for ply in session.undo()] == ["two", "one", "pass", "one"]
    assert session.plies == []


# ---------------------------------------------------------------------- taking back


def test_undo_goes_back_to_the_persons_last_choice() -> None:
    session = session_with(FirstLegal(GAME))
    play_on(session, 4, 8)
    assert [ply.action for ply in session.undo()] == [8, 1]
    assert session.awaits_person
    assert [ply.action for ply in session.plies] == [4, 0]
    session.play(5)
    assert [ply.action for ply in session.undo()] == [5]
    session.undo()
    assert session.plies == []
    assert bool((session.match.state.position == 0).all())
    with pytest.raises(NotNowError, match="you have not taken an action yet"):
        session.undo()


def test_a_ply_that_the_match_has_not_reached_is_refused_and_nothing_changes() -> None:
    session = session_with(FirstLegal(GAME))
    play_on(session, 4)
    for asked, ply in ((session.rewind, -1), (session.match.state_before, 3), (session.estimate, 3)):
        with pytest.raises(NotNowError, match=rf"positions before the plies 0 to 2, not before {ply}"):
            asked(ply)
    assert [ply.action for ply in session.plies] == [4, 0]
    assert len(session.rewind(0)) == 2
    assert torch.equal(session.match.state.position, GAME.init().position)


# ---------------------------------------------------------------------- the same numbers


def test_the_same_key_and_actions_give_the_same_match_even_after_undo() -> None:
    lines = []
    for takes_back in (False, True):
        session = session_with(Drawing(GAME), key=5, match=3)
        play_on(session, 4)
        if takes_back:
            session.undo()
            play_on(session, 4)
        while not session.is_over:
            play_on(session, session.match.legal_actions()[0])
        lines.append([ply.action for ply in session.plies])
    assert lines[0] == lines[1]
