"""The API: matches that are continued from their moves or a position, other seats, and earlier positions."""

import pytest
from fastapi.testclient import TestClient

from tests.web.match_requests import Json, act, begin, play_out, post

CROSS = {"squares": [1, -1, 0, 0, 0, 0, 0, 0, 0], "to_move": 0}


def begun(client: TestClient, **asked: object) -> Json:
    answer = client.post("/api/matches", json={"game": "tictactoe", "opponent": "level-3", **asked})
    assert answer.status_code == 201, answer.text
    return answer.json()


def refused(client: TestClient, **asked: object) -> tuple[int, str]:
    answer = client.post("/api/matches", json={"game": "tictactoe", "opponent": "level-3", **asked})
    return answer.status_code, answer.json()["error"]


def test_a_match_is_brought_back_by_its_moves_with_the_values_of_its_plies(client: TestClient) -> None:
    match = act(client, begin(client), 4)
    match = post(client, match, "reply")
    again = begun(client, moves=match["moves"])
    assert (again["squares"], again["legal"]) == (match["squares"], match["legal"])
    assert [ply["value"] for ply in again["plies"]] == [ply["value"] for ply in match["plies"]]
    assert [ply["by_person"] for ply in again["plies"]] == [True, False]
    second = begun(client, person="second", moves=match["moves"])
    assert [ply["by_person"] for ply in second["plies"]] == [False, True]
    assert not second["awaits_person"]


def test_a_learner_does_not_learn_again_from_a_match_that_is_brought_back(client: TestClient) -> None:
    opponent = "tabular:backward_value"
    match = play_out(client, begin(client, opponent=opponent))
    again = begun(client, opponent=opponent, moves=match["moves"])
    assert (again["is_over"], again["standing"], again["is_practice"]) == (True, None, False)
    undone = play_out(client, post(client, again, "undo"))
    assert (undone["is_practice"], undone["standing"]) == (True, None)
    practice = play_out(client, begun(client, opponent=opponent, is_practice=True))
    assert (practice["is_practice"], practice["standing"]) == (True, None)


def test_moves_and_positions_are_checked(client: TestClient) -> None:
    assert refused(client, moves="1,1 1,1")[0] == 409
    assert refused(client, moves="9,9") == (
        409,
        "'9,9' is not a square; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc",
    )
    assert refused(client, moves="x" * 1001)[0] == 422
    assert refused(client, position={"squares": [2] * 9, "to_move": 0})[0] == 422
    assert refused(client, position={"squares": [0] * 65, "to_move": 0})[0] == 422
    assert refused(client, position={"squares": [1] * 9, "to_move": 0})[0] == 409
    assert refused(client, position={"squares": [0] * 8, "to_move": 0}) == (409, "a board has 9 squares, not 8")
    code, sentence = refused(client, game="sumto100", opponent="random", position=CROSS)
    assert (code, "cannot be set up" in sentence) == (422, True)
    assert refused(client, person="none", partner="level-77")[0] == 404


def test_a_match_begins_in_a_position_and_is_practice(client: TestClient) -> None:
    match = begun(client, position=CROSS, moves="1,1")
    assert (match["position"], match["squares"][:5], match["is_practice"]) == (CROSS, [1, -1, 0, 0, 1], True)
    assert begun(client, position=CROSS, person="second")["awaits_person"] is False
    assert post(client, match, "next", person="first")["position"] is None


def test_two_players_are_watched_ply_by_ply(client: TestClient) -> None:
    match = begun(client, person="none", partner="search-4")
    assert [seat["id"] for seat in match["seats"]] == ["search-4", "level-3"]
    for number in range(1, 4):
        match = post(client, match, "reply")
        assert len(match["plies"]) == number
    assert not any(ply["by_person"] for ply in match["plies"])
    assert client.post(f"/api/matches/{match['id']}/undo").status_code == 409
    changed = client.put(f"/api/matches/{match['id']}/opponent", json={"opponent": "random", "partner": "level-1"})
    assert [seat["id"] for seat in changed.json()["seats"]] == ["level-1", "random"]
    over = play_out(client, changed.json())
    assert over["is_over"]
    alone = begun(client, person="none")
    assert [seat["id"] for seat in alone["seats"]] == ["level-3", "level-3"]


def test_earlier_positions_their_perfect_values_and_best_lines(client: TestClient) -> None:
    match = play_out(client, begin(client))
    address = f"/api/matches/{match['id']}"
    first = client.get(f"{address}/positions/0").json()
    assert (first["squares"], len(first["legal"]), len(first["plies"])) == ([0] * 9, 9, len(match["plies"]))
    assert all(one["value"] is not None for one in first["legal"])
    end = client.get(f"{address}/positions/{len(match['plies'])}").json()
    assert (end["squares"], end["legal"]) == (match["squares"], [])
    assert client.get(f"{address}/positions/99").status_code == 404
    perfect = client.get(f"{address}/judged", params={"ply": 0}).json()
    assert (perfect["actions"], perfect["texts"][4], perfect["values"]) == (list(range(9)), "1,1", [0.0] * 9)
    assert client.get(f"{address}/judged", params={"ply": 99}).status_code == 404
    hint = client.get(f"{address}/hint", params={"ply": 0}).json()
    assert (hint["source"], len(hint["line"])) == ("Perfect play", 9)
    assert client.get(f"{address}/hint").json()["error"] == "the match is over"
    assert client.get(f"{address}/hint", params={"ply": 99}).status_code == 404


def test_a_match_continues_from_an_earlier_position(client: TestClient) -> None:
    match = play_out(client, begin(client))
    rewound = post(client, match, "rewind", ply=2)
    assert (len(rewound["plies"]), rewound["awaits_person"], rewound["is_practice"]) == (2, True, True)
    assert client.post(f"/api/matches/{match['id']}/rewind", json={"ply": 9}).status_code == 409


@pytest.mark.parametrize(("game", "name"), [("tictactoe", "tictactoe.txt"), ("othello", "othello.ggf")])
def test_a_match_is_written_as_a_file_that_can_be_loaded(client: TestClient, game: str, name: str) -> None:
    match = begin(client, game, "random")
    match = post(client, act(client, match, match["legal"][0]["action"]), "reply")
    file = client.get(f"/api/matches/{match['id']}/file").json()
    assert file["name"] == name
    again = begun(client, game=game, opponent="random", moves=file["text"])
    assert again["moves"] == match["moves"]
