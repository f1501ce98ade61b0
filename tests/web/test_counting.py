"""The API: a match of Go with people is over when they have agreed which stones are dead."""

import pytest
from fastapi.testclient import TestClient

from tests.web.match_requests import answer, described, refused, shown

MOVES = "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 E3 A3 pass pass"
"""Two walls; the stone of the other colour behind each, on the squares 14 and 10, is dead."""


def counted(**given: object) -> dict[str, object]:
    return described("go_5x5", "random", "both", moves=MOVES, **given)


def test_people_end_a_match_by_agreeing_on_dead_stones(client: TestClient) -> None:
    view = shown(client, counted())
    assert (view["is_over"], view["result"], view["legal"]) == (False, None, [])
    assert (view["count"]["dead"], view["count"]["result"]["points"]) == ([], [6, 13.5])
    assert answer(client, counted(), show=["dead"])["dead"] == [10, 14]
    tried = shown(client, counted(dead=[10], is_agreed=False))
    assert (tried["count"]["result"]["lead"], tried["is_over"], tried["plies"]) == (-1.5, False, view["plies"])
    agreed = answer(client, counted(dead=[10, 14]), show=["view", "file"])
    match = agreed["match"]
    # The dead stones leave the board with the last pass, and so are captured.
    assert (match["count"], match["is_over"], match["plies"][-1]["changes"]) == (None, True, [[10, 0], [14, 0]])
    assert (match["result"]["winner"], match["result"]["points"]) == (1, [10, 17.5])
    assert "RE[W+7.5]" in agreed["file"]["text"]
    earlier = shown(client, counted(dead=[10, 14]), ply=12)
    assert (earlier["owners"], earlier["to_move"]) == (None, 0)


@pytest.mark.parametrize(
    ("given", "code"),
    [({"dead": [0]}, 409), ({"dead": [24, 99]}, 409), ({"dead": [], "moves": "pass"}, 409), ({"dead": [-1]}, 422)],
)
def test_dead_stones_are_checked(client: TestClient, given: dict[str, object], code: int) -> None:
    assert refused(client, counted() | given)[0] == code


def test_matches_of_programs_end_by_the_rules(client: TestClient) -> None:
    view = shown(client, counted() | {"person": "none"})
    assert (view["is_over"], view["count"]) == (True, None)
    assert refused(client, counted() | {"person": "none"}, show=["dead"])[0] == 409


def test_random_matches_say_who_can_be_expected_to_own_each_square(client: TestClient) -> None:
    match = counted() | {"moves": MOVES.removesuffix(" pass pass")}
    territory = answer(client, match, show=["territory"])["territory"]
    # Behind the walls; random matches sometimes capture one of them.
    assert min(territory[square] for square in (0, 5, 10, 15, 20)) > 0.4
    assert max(territory[square] for square in (4, 9, 14, 19, 24)) < -0.4
    assert answer(client, match, show=["territory"], ply=0)["territory"] != territory
    assert refused(client, described(), show=["territory"])[0] == 409


def test_a_result_that_a_file_says_is_shown_and_kept_until_people_agree_on_another_one(client: TestClient) -> None:
    text = "(;GM[1]SZ[5]PB[Ann]PW[Bob]RE[B+2];B[ba];W[da];B[];W[])"
    read = answer(client, counted() | {"moves": text}, show=["view", "record", "file"])
    assert (read["match"]["is_over"], read["record"]["result"]) == (False, "black wins by 2")
    assert "RE[B+2]" in read["file"]["text"]
    agreed = answer(client, counted(dead=[1]) | {"moves": text}, show=["record", "file"])
    assert (agreed["record"]["result"], "RE[W+" in agreed["file"]["text"]) == ("black wins by 2", True)
    agreed = answer(client, counted(dead=[]) | {"moves": text}, show=["view", "file"])
    assert (agreed["match"]["result"]["winner"], "RE[W+7.5]" in agreed["file"]["text"]) == (1, True)
    kept = answer(client, counted() | {"moves": text.replace("B+2", "W+7.5")}, show=["file"])
    assert "RE[W+7.5]" in kept["file"]["text"]
    # Before they have agreed there is none, unless the file says it.
    read = answer(client, counted(), show=["record", "file"])
    assert (read["record"]["result"], "RE[" in read["file"]["text"]) == (None, False)
    resigned = "(;GM[1]SZ[5]RE[W+R];B[ba];W[da])"
    assert "RE[W+R]" in answer(client, counted() | {"moves": resigned}, show=["file"])["file"]["text"]
