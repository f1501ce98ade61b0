"""A session: who acts when, what can be taken back, what is counted and learned, what is known, the same numbers."""

import json

import numpy as np
import pytest
import torch

from selfplay.advice import hint, perfect_values, right_actions
from selfplay.errors import IllegalActionError, NotNowError
from selfplay.games import make_game
from selfplay.players import perfect
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.perfect import PerfectPlayer, perfect_player_of
from selfplay.players.player import Player
from selfplay.session import HUMAN, Session
from selfplay.session_summary import summary
from tests.pile import Pile
from tests.stub_players import Drawing, FirstLegal, Learning, Valuing

GAME = make_game("tictactoe")


def session_with(opponent: Player | None, *, first: int = 0, key: int = 0, match: int = 0) -> Session:
    """A person, player number 0, against this opponent."""
    return Session(GAME, (None, opponent), key, first=first, match=match)


def go_on(session: Session, *actions: int) -> list[int]:
    """The person plays these actions, the players whatever they play between and after; all actions so far."""
    remaining = list(actions)
    while not session.is_over and (remaining or not session.awaits_person):
        if session.awaits_person:
            session.play(remaining.pop(0))
        else:
            session.advance()
    return [ply.action for ply in session.plies]


# ---------------------------------------------------------------------- whose turn it is


def test_a_person_and_a_player_act_in_turn_to_the_end() -> None:
    session = session_with(FirstLegal(GAME))
    assert (session.awaits_person, session.to_move, session.names) == (True, 0, (HUMAN, "first legal"))
    assert session.legal_actions == tuple(range(9))
    ply = session.play(4)
    assert (ply.seat, ply.action, ply.text, ply.by_person, ply.is_random) == (0, 4, "1,1", True, None)
    ply = session.advance()
    assert (ply.seat, ply.text, ply.by_person, ply.is_forced) == (1, "0,0", False, False)
    assert go_on(session, 2, 6) == [4, 0, 2, 1, 6]
    assert (session.is_over, session.winner, session.result_text) == (True, 0, "X wins.")
    assert session.legal_actions == ()


def test_a_draw_has_no_winner() -> None:
    session = session_with(FirstLegal(GAME))
    go_on(session, 4, 2, 3, 7, 8)
    assert (session.is_over, session.winner, session.result_text) == (True, None, "A draw.")


def test_the_person_can_sit_second_and_two_people_or_two_players_can_play() -> None:
    second = session_with(FirstLegal(GAME), first=1)
    assert (second.awaits_person, second.names) == (False, ("first legal", HUMAN))
    people = session_with(None)
    assert go_on(people, 0, 3, 1, 4, 2) == [0, 3, 1, 4, 2]
    assert people.result_text == "X wins."
    players = Session(GAME, (FirstLegal(GAME), Valuing(GAME)), 0)
    assert go_on(players) == [0, 8, 1, 7, 2]


def test_nothing_illegal_and_nothing_out_of_turn_is_played() -> None:
    session = session_with(FirstLegal(GAME))
    with pytest.raises(NotNowError, match="a person's turn"):
        session.advance()
    for action in (9, -1):
        with pytest.raises(IllegalActionError, match=f"action {action} is not legal"):
            session.play(action)
    session.play(0)
    with pytest.raises(NotNowError, match="not a person's turn"):
        session.play(1)
    session.advance()
    with pytest.raises(IllegalActionError, match="action 0,0 is not legal here; legal are 0,2, 1,0"):
        session.play(0)
    assert len(session.plies) == 2
    go_on(session, 4, 8)
    for act in (session.advance, lambda: session.play(5)):
        with pytest.raises(NotNowError, match="the match is over"):
            act()


# ---------------------------------------------------------------------- passes


def test_a_person_who_can_only_pass_does_so_without_being_asked() -> None:
    session = Session(Pile(), (None, FirstLegal(Pile())), 0)
    session.play(1)
    session.advance()
    # The person has two coins, the other one.
    assert (session.legal_actions, session.awaits_person) == ((2,), False)
    with pytest.raises(NotNowError):
        session.play(2)
    ply = session.advance()
    assert (ply.text, ply.by_person, ply.is_forced) == ("pass", True, True)
    ply = session.advance()
    assert (ply.seat, ply.text, ply.is_forced) == (1, "one", False)
    assert session.awaits_person


def test_a_player_who_can_only_pass_is_not_asked_either() -> None:
    class NeverPasses(Valuing):
        def act(self, state, draws):
            assert state.own <= state.opp
            return torch.tensor([1])

    session = Session(Pile(), (NeverPasses(Pile()), None), 0)
    assert go_on(session, 0) == [1, 0, 2]
    ply = session.plies[-1]
    assert (ply.seat, ply.by_person, ply.is_forced, ply.is_random) == (0, False, True, None)


def test_a_pass_is_no_choice_to_take_back() -> None:
    session = Session(Pile(), (None, FirstLegal(Pile())), 0)
    assert go_on(session, 1) == [1, 0, 2, 0]
    assert [ply.text for ply in session.undo()] == ["two", "one", "pass", "one"]
    assert session.plies == ()


# ---------------------------------------------------------------------- taking back


def test_undo_goes_back_to_where_the_person_chose() -> None:
    session = session_with(FirstLegal(GAME))
    go_on(session, 4, 8)
    assert [ply.action for ply in session.undo()] == [8, 1]
    assert session.awaits_person
    assert [ply.action for ply in session.plies] == [4, 0]
    session.play(5)
    assert [ply.action for ply in session.undo()] == [5]
    session.undo()
    assert session.plies == ()
    assert bool((session.state.own == 0).all())
    assert not session.can_undo
    with pytest.raises(NotNowError, match="no action of yours to take back"):
        session.undo()


def test_a_person_who_moves_second_cannot_take_back_the_others_opening() -> None:
    session = session_with(FirstLegal(GAME), first=1)
    go_on(session)
    with pytest.raises(NotNowError):
        session.undo()
    go_on(session, 4)
    assert session.can_undo
    session.undo()
    assert [ply.action for ply in session.plies] == [0]


def test_between_two_people_one_ply_is_taken_back() -> None:
    session = session_with(None)
    go_on(session, 0, 1, 2)
    assert [ply.action for ply in session.undo()] == [2]
    assert session.to_move == 0


def test_two_players_have_nothing_to_take_back() -> None:
    session = Session(GAME, (FirstLegal(GAME), FirstLegal(GAME)), 0)
    go_on(session)
    with pytest.raises(NotNowError):
        session.undo()


# ---------------------------------------------------------------------- the same numbers


def test_the_same_key_and_actions_give_the_same_match_also_after_undo() -> None:
    lines = []
    for takes_back in (False, True):
        session = session_with(Drawing(GAME), key=5, match=3)
        go_on(session, 4)
        if takes_back:
            session.undo()
            go_on(session, 4)
        while not session.is_over:
            go_on(session, session.legal_actions[0])
        lines.append([ply.action for ply in session.plies])
    assert lines[0] == lines[1]


def test_the_key_the_match_and_the_ply_change_the_numbers() -> None:
    replies = {
        (key, match): go_on(session_with(Drawing(GAME), key=key, match=match), 4)[1]
        for key in range(4)
        for match in range(4)
    }
    assert len(set(replies.values())) > 3
    session = session_with(Drawing(GAME), key=2, match=1)
    go_on(session, 4)
    session.new_match()
    assert (session.match, go_on(session, 4)[1]) == (2, replies[2, 2])


def test_a_match_without_plies_only_changes_its_seats() -> None:
    session = session_with(FirstLegal(GAME))
    session.new_match(1)
    assert (session.match, session.first, session.awaits_person) == (0, 1, False)
    go_on(session)
    session.new_match()
    assert (session.match, session.first, session.plies, session.results.matches) == (1, 1, (), 0)


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
    assert session.results == (2, 0, 1, 1, 0, 0)
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


# ---------------------------------------------------------------------- values, hints, perfect play


def test_values_are_worked_out_when_asked_for_and_once() -> None:
    player = Valuing(GAME)
    session = session_with(player)
    go_on(session, 0, 1)
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


def test_nobody_values_actions_between_two_people_or_against_the_random_player() -> None:
    for opponent in (None, FirstLegal(GAME)):
        session = session_with(opponent)
        assert session.action_values() is None
        # Perfect play steps in.
        assert hint(session) == (0, "0,0", 0.0, "perfect")


def test_the_hint_is_the_agents_best_action_or_anyone_elses() -> None:
    session = session_with(Valuing(GAME))
    given = hint(session)
    assert (given.action, given.text, given.source) == (8, "2,2", "valuing")
    assert given.value == pytest.approx(0.08)
    assert hint(session, perfect_player_of(GAME)) == (0, "0,0", 0.0, "perfect")
    go_on(session, 0, 1, 2)
    with pytest.raises(NotNowError, match="over"):
        hint(session)


def test_perfect_play_tells_what_would_have_been_right() -> None:
    session = session_with(None)
    go_on(session, 4, 1)
    # . O .    a corner or the left or right edge wins against this edge; only the bottom edge does not
    # . X .
    # . . .
    values = perfect_values(session)
    assert values is not None
    assert np.nan_to_num(values, nan=-9).tolist() == [1, -9, 1, 1, -9, 1, 1, 0, 1]
    assert right_actions(session) == (0, 2, 3, 5, 6, 8)
    assert right_actions(session, 1) == (0, 2, 6, 8)
    go_on(session, 0, 8, 3, 5, 6)
    assert session.is_over
    assert perfect_values(session) is None
    assert right_actions(session) is None


def test_that_a_game_is_too_large_to_be_solved_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    large = make_game("othello_6x6")
    session = Session(large, (None, FirstLegal(large)), 0)
    assert perfect_values(session) is None
    monkeypatch.setattr(perfect, "enumerate_positions", lambda *_: pytest.fail("asked again"))
    assert right_actions(session) is None
    with pytest.raises(NotNowError, match="othello_6x6 is too large to be solved"):
        hint(session)
    with pytest.raises(NotNowError, match="first legal values no actions"):
        hint(session, FirstLegal(large))


def test_perfect_play_is_found_out_once() -> None:
    assert perfect_player_of(GAME) is perfect_player_of(make_game("tictactoe"))
    assert isinstance(perfect_player_of(Pile()), PerfectPlayer)


def test_a_ply_says_whether_an_exploring_player_acted_at_random() -> None:
    for epsilon, is_random in ((1.0, True), (0.0, False)):
        player = EpsilonGreedyPlayer(GAME, FirstLegal(GAME), [epsilon])
        session = session_with(player, first=1)
        assert session.advance().is_random is is_random


# ---------------------------------------------------------------------- for a page


def test_the_summary_is_all_that_a_page_needs_as_json() -> None:
    session = session_with(Valuing(GAME))
    go_on(session, 0)
    shown = json.loads(json.dumps(summary(session, values=True, perfect=True), allow_nan=False))
    assert shown["board"] == "X . .\n. . .\n. . O"
    assert shown["squares"] == [1, 0, 0, 0, 0, 0, 0, 0, -1]
    assert shown["players"] == ["human", "valuing"]
    assert (shown["to_move"], shown["awaits_person"], shown["can_undo"]) == (0, True, True)
    assert shown["legal_actions"][0] == {"action": 1, "text": "0,1"}
    assert shown["plies"][1] == {
        "seat": 1,
        "action": 8,
        "text": "2,2",
        "by_person": False,
        "is_forced": False,
        "is_random": None,
    }
    assert shown["values"][0] is None
    assert shown["values"][7] == pytest.approx(0.07)
    assert shown["perfect"][2] == 1.0
    assert (shown["is_over"], shown["winner"], shown["result"], shown["standing"]) == (False, None, None, None)
    go_on(session, 1, 2)
    shown = summary(session)
    assert (shown["to_move"], shown["result"], shown["winner"]) == (None, "X wins.", 0)
    assert (shown["values"], shown["perfect"], shown["legal_actions"]) == (None, None, [])


def test_a_game_without_a_board_of_squares_has_its_text() -> None:
    shown = summary(Session(Pile(), (None, None), 0))
    assert (shown["squares"], shown["board"]) == (None, "first 0, second 0")


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
