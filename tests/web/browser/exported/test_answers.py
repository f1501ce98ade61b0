"""The worker of an exported page answers requests as the server does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from selfplay.web.app import create_app
from selfplay.web.match_service import MatchService
from tests.web.conftest import client_of, web_settings

SAME_PLIES = ("seat", "action", "text", "name", "by_person", "is_forced", "pointed", "changes")
SAME_ACTIONS = ("action", "text", "name", "square", "content", "pointed", "end", "ends_at_once")
SAME = (
    *("start", "shown", "points", "lead", "ko", "owners", "to_move", "awaits_person", "is_over"),
    *("is_practice", "result", "moves", "people", "komi", "count"),
)
# Black captures two stones, and has territory at the end.
GO = "B2 A2 B1 C2 B3 A1 A3 C3 C1 pass pass"
# Two walls; behind each is a stone of the other colour, which is dead.
WALLS = "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 E3 A3 pass pass"
REQUESTS: dict[str, list[dict[str, Any]]] = {
    "tictactoe": [
        {},
        {"moves": "1,1 0,0", "person": "both", "ply": 1},
        {"moves": "1,1 0,0 2,2 0,1 0,2 1,2 2,0", "seed": 3, "valued": 0},
        {"moves": "0,0 1,1 0,1 2,2 0,2", "person": "second", "is_practice": True},
        {"moves": "1,1 0,0", "show": ["view", "judged", "hint", "file"]},
        {"moves": "1,1 0,0", "ended": "resigned", "show": ["view", "file"]},
        {"moves": "1,1", "person": "both", "ended": "drawn", "show": ["view", "file"]},
        {"moves": "# by hand\n1. 1,1 0,0\n2. 2,2 0-1\n", "person": "both", "show": ["view", "record", "file"]},
        {"moves": "1,1 0,0 *", "person": "both", "show": ["view", "record", "file"]},
    ],
    "connect_four": [
        {"moves": "4453", "person": "none", "partner": "easy"},
        {"moves": "4453 1-0", "person": "both", "show": ["view", "record", "file"]},
        {"moves": "1212121 0-1", "person": "both", "show": ["view", "record", "file"]},
    ],
    "othello": [
        {"moves": "f5 d6", "person": "second", "valued": 1},
        {"moves": "f5d6c3", "ply": 2, "show": ["view", "judged", "hint", "file"]},
    ],
    "go_3x3": [
        {"moves": GO, "person": who, "ply": ply, "dead": []}
        for who, ply in (("both", None), ("first", None), ("second", 10))
    ]
    + [{"moves": "C1 A1 C3 B1 B2 C2", "person": "both"}],
    "go_5x5": [
        {"moves": WALLS, "person": "both"} | given
        for given in (
            {"show": ["view", "dead"]},
            {"show": ["view", "territory"], "ply": 12},
            {"dead": [10], "is_agreed": False},
            {"dead": [10, 14], "show": ["view", "file"]},
            {"dead": [10, 14], "ply": 12},
            {"person": "none"},
            {"show": ["view", "record", "file"]},
            {"moves": f"{WALLS} 1-0", "show": ["view", "record", "file"]},
            {"moves": f"{WALLS} 0-1", "show": ["view", "record", "file"]},
            {"moves": f"{WALLS} 1-0", "dead": [10, 14], "show": ["view", "record", "file"]},
        )
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", "connect_four", "othello", "go_3x3", "go_5x5"])
def test_the_worker_answers_requests_as_the_server_does(
    game: str, exported: Page, address: Callable[[str], str], tiny_run: Path
) -> None:
    exported.goto(address(game))
    client = client_of(create_app(MatchService(web_settings(tiny_run))))
    for asked in REQUESTS[game]:
        request = {"game": game, "opponent": "random"} | asked
        found = exported.evaluate("async (asked) => (await import('./page/api.js')).match(asked)", request)
        assert_same_answer(found, client.post("/api/match", json=request).json())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moves", "status"), [("1,1 0,0\n1,1\n0,1\n", 409), ("# by hand\n", 409), ("1,1\n1,1\n3. 0,0", 200)]
)
def test_the_worker_refuses_texts_as_the_server_does(
    moves: str, status: int, exported: Page, address: Callable[[str], str], tiny_run: Path
) -> None:
    exported.goto(address("tictactoe"))
    request = {"game": "tictactoe", "opponent": "random", "person": "both", "moves": moves, "show": ["record"]}
    served = client_of(create_app(MatchService(web_settings(tiny_run)))).post("/api/match", json=request)
    assert served.status_code == status
    asked = "async (asked) => (await import('./page/api.js')).match(asked).then(() => 'read', (error) => error.message)"
    found = exported.evaluate(asked, request)
    assert found == "read" if status == 200 else found.lower() == f"{served.json()['error']}."


def assert_same_answer(found: dict[str, Any], served: dict[str, Any]) -> None:
    assert found.keys() == served.keys()
    for part, expected in served.items():
        assert (found[part] is None, set(found[part] or ())) == (expected is None, set(expected or ())), part
    assert found["territory"] == served["territory"]
    assert found["record"] == served["record"]
    if served["file"] is not None and served["file"]["name"].endswith(".txt"):
        assert found["file"] == served["file"]
    for name in SAME:
        assert found["match"][name] == served["match"][name], name
    for many, names in (("plies", SAME_PLIES), ("legal", SAME_ACTIONS)):
        pairs = zip(found["match"][many], served["match"][many], strict=True)
        assert all(one.keys() == other.keys() and one[name] == other[name] for one, other in pairs for name in names)
