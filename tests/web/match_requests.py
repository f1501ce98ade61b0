"""Requests that begin and play matches, for tests. A match is its request, and the answer to it."""

from typing import Any

from fastapi.testclient import TestClient

Json = dict[str, Any]


def answer(client: TestClient, match: Json, **asked: object) -> Json:
    """The whole answer to a request about a match."""
    response = client.post("/api/match", json=match | asked)
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def of_each(field: str, judged: Json) -> list[Any]:
    """A field of each legal action that the judge has valued."""
    return [one[field] for one in judged["legal"]]


def shown(client: TestClient, match: Json, **asked: object) -> Json:
    """The view of a match after the opponent has moved."""
    view: Json = answer(client, match, **({"advance": True} | asked))["match"]
    return view


def refused(client: TestClient, match: Json, **asked: object) -> tuple[int, str]:
    response = client.post("/api/match", json=match | asked)
    return response.status_code, response.json()["error"]


def described(game: str = "tictactoe", opponent: str = "level-3", person: str = "first", **given: object) -> Json:
    """A new match."""
    return {"game": game, "opponent": opponent, "person": person, **given}


def played(match: Json, view: Json, action: int) -> Json:
    """The match after an action of the person, as a view of it shows them."""
    text = next(one["text"] for one in view["legal"] if one["action"] == action)
    return match | {"moves": f"{view['moves']} {text}"}


def act(client: TestClient, match: Json, *actions: int, **asked: object) -> tuple[Json, Json]:
    """The match after these actions of the person and the replies, and its last view."""
    view = shown(client, match)
    for action in actions:
        match = played(match, view, action)
        view = shown(client, match, **asked)
    return match | {"moves": view["moves"]}, view


def board_of(view: Json) -> list[int]:
    """What is on each square after the last move."""
    return list(
        (dict(enumerate(view["start"])) | dict(one for ply in view["plies"] for one in ply["changes"])).values()
    )


def play_out(client: TestClient, match: Json, choice: int = 0) -> tuple[Json, Json]:
    """Play to the end; the person always takes the legal action with this number, or the last one."""
    view = shown(client, match)
    while not view["is_over"]:
        legal = view["legal"][: choice + 1]
        match = played(match, view, legal[-1]["action"]) if legal else match | {"moves": view["moves"]}
        view = shown(client, match)
    return match | {"moves": view["moves"]}, view
