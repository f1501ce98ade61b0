"""The API: games with options that are not listed, and handicap stones."""

import pytest
from fastapi.testclient import TestClient

from tests.web.match_requests import Json, answer, described, shown


def view_of(client: TestClient, game: str) -> tuple[int, Json]:
    response = client.get(f"/api/games/{game}")
    return response.status_code, response.json()


def test_a_game_with_other_options_is_described_and_played(client: TestClient) -> None:
    code, game = view_of(client, "go_7x7_komi=5.5")
    assert (code, game["name"], game["board"], game["title"]) == (
        200, "go_7x7_komi=5.5", "go_7x7", "Go 7x7, komi 5.5"
    )  # fmt: skip
    komi = {"name": "komi", "label": "Komi", "value": 5.5, "usual": 9.0, "is_flag": False}
    assert game["options"] == [komi]
    assert list(game["handicaps"]) == ["2", "3", "4"]
    code, game = view_of(client, "hex_3x3_swap=1")
    assert (code, game["options"][0]["is_flag"], game["options"][0]["value"]) == (200, True, 1.0)
    assert game["handicaps"] == {}
    view = shown(client, described("hex_3x3_swap=1", "random", "both", moves="c1 swap"), advance=False)
    assert (view["moves"], view["plies"][-1]["changes"]) == ("c1 swap-pieces", [[2, 0], [6, -1]])


@pytest.mark.parametrize(
    ("game", "code"),
    [("go_6x6_komi=5", 404), ("go_komi=5.3", 422), ("go_x=1", 404), ("gomoku_length=4", 404), ("tictactoe_4=4", 404)],
)
def test_other_games_are_refused(client: TestClient, game: str, code: int) -> None:
    assert view_of(client, game)[0] == code


def test_handicap_and_komi_are_saved_and_read_back(client: TestClient) -> None:
    game = view_of(client, "go_7x7_komi=0.5")[1]
    stones = game["handicaps"]["2"]
    position = {"squares": [int(square in stones) for square in range(49)], "to_move": 1}
    match = described(game["name"], "random", "both", position=position, moves="D4 D5")
    saved = answer(client, match, show=["view", "file"])
    text = saved["file"]["text"]
    assert all(part in text for part in ("KM[0.5]", "HA[2]", "AB[ec][ce]", "W[dd]"))
    refused = client.post("/api/match", json=described("go_7x7", "random", "both", moves=text)).json()
    assert refused["game"] == game["name"]
    again = shown(client, described(game["name"], "random", "both", moves=text), advance=False)
    assert (again["position"], again["moves"], again["lead"]) == (position, "D4 D5", saved["match"]["lead"])
