"""The description of a match as plain words, numbers and lists."""

import json
from dataclasses import asdict

import pytest

from selfplay.playing.match_description import MatchDescriber
from selfplay.playing.session import Session
from tests.support.pile import Pile
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import Valuing


def described(session: Session) -> dict:
    return json.loads(json.dumps(asdict(MatchDescriber(session).describe()), allow_nan=False))


def test_a_match_in_progress_is_described_as_json() -> None:
    session = session_with(Valuing(GAME))
    play_on(session, 0)
    session.action_values()
    match = described(session)
    assert match["board"] == "X . .\n. . .\n. . O"
    assert match["squares"] == [1, 0, 0, 0, 0, 0, 0, 0, -1]
    assert match["players"] == ["human", "valuing"]
    assert (match["to_move"], match["awaits_person"], match["can_undo"]) == (0, True, True)
    assert (match["adviser"], match["values_are_points"]) == ("valuing", False)
    assert match["legal"][0] == {
        "action": 1,
        "text": "0,1",
        "square": 1,
        "pointed": [1],
        "value": pytest.approx(0.01),
        "visits": None,
        "words": None,
        "grade": None,
    }
    assert match["plies"][1] == {
        "seat": 1,
        "action": 8,
        "text": "2,2",
        "by_person": False,
        "is_forced": False,
        "is_random": None,
        "reason": None,
        "square": 8,
        "turned": [],
        "place": None,
        "value": None,
        "words": None,
        "value_is_points": False,
        "in_points": False,
        "best": None,
        "best_value": None,
        "best_words": None,
        "grade": None,
    }
    assert (match["is_over"], match["winner"], match["result"], match["standing"]) == (False, None, None, None)


def test_a_finished_match_has_a_result_and_no_legal_actions() -> None:
    session = session_with(Valuing(GAME))
    play_on(session, 0, 1, 2)
    match = described(session)
    assert (match["to_move"], match["result"], match["winner"]) == (None, "You win.", 0)
    assert (match["legal"], match["adviser"]) == ([], None)
    people = session_with(None)
    play_on(people, 0, 3, 1, 4, 2)
    assert described(people)["result"] == "X wins."


def test_a_game_without_a_board_is_described_by_its_text() -> None:
    match = described(Session(Pile(), (None, None), 0))
    assert (match["squares"], match["counts"], match["board"]) == (None, None, "first 0, second 0")
