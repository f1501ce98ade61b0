"""Requests that begin and play matches, for tests."""

from typing import Any

from fastapi.testclient import TestClient

Json = dict[str, Any]


def begin(client: TestClient, game: str = "tictactoe", opponent: str = "level-3", person: str = "first") -> Json:
    answer = client.post("/api/matches", json={"game": game, "opponent": opponent, "person": person})
    assert answer.status_code == 201, answer.text
    return answer.json()


def post(client: TestClient, match: Json, what: str, **body: object) -> Json:
    answer = client.post(f"/api/matches/{match['id']}/{what}", json=body or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


def act(client: TestClient, match: Json, action: int) -> Json:
    return post(client, match, "actions", action=action, ply=len(match["plies"]))


def play_out(client: TestClient, match: Json, choice: int = 0) -> Json:
    """Play to the end; the person always takes the legal action with this number, or the last one."""
    while not match["is_over"]:
        if match["awaits_person"]:
            match = act(client, match, match["legal"][: choice + 1][-1]["action"])
        else:
            match = post(client, match, "reply")
    return match
