"""While an opponent is being loaded, a simple player moves in its place, and the server says how far it is."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from selfplay.compute.bit_algebra import noted_as_compiled
from selfplay.games import Game
from selfplay.web.match_service import MatchService
from tests.support.stub_players import FirstLegal
from tests.web.conftest import client_of, web_settings
from tests.web.match_requests import Json, answer, described, refused, shown

LATE = "tests.web.test_stand_in:Late"


class Late(FirstLegal):
    """Compiles a function, and takes until `opened` to be loaded."""

    name = "late"
    loads, opened = threading.Event(), threading.Event()

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        njit: Any = numba.njit
        njit(noted_as_compiled(successor))(1)
        self.loads.set()
        assert self.opened.wait(100)


def successor(number: int) -> int:
    return number + 1


@pytest.fixture(autouse=True)
def late() -> Iterator[type[Late]]:
    for event in (Late.loads, Late.opened):
        event.clear()
    yield Late
    Late.opened.set()


@pytest.fixture
def service(run_dir: Path) -> MatchService:
    return MatchService(web_settings(run_dir, opponents=[LATE]))


def preparation(client: TestClient, opponent: str = LATE) -> Json:
    response = client.get("/api/games/tictactoe/preparation", params={"opponent": opponent})
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def test_a_simple_player_moves_while_the_opponent_is_loaded_which_then_takes_over(app: FastAPI) -> None:
    client, match = client_of(app), described(opponent=LATE)
    assert not preparation(client)["is_ready"]
    waiting = threading.Thread(target=shown, args=(client_of(app), match))
    waiting.start()
    assert Late.loads.wait(60)
    found = preparation(client)
    assert (found["is_ready"], found["is_loading"], found["seconds"] > 0) == (False, True, True)
    assert (found["compiled"], found["functions"]) == (1, 1)
    # X threatens to win, which the simple player sees and the opponent does not.
    match |= {"moves": "1,1 0,0 1,2"}
    replied = shown(client, match, stand_in=True)
    assert [ply["text"] for ply in replied["plies"]] == ["1,1", "0,0", "1,2", "1,0"]
    assert (replied["stood_in"], replied["is_practice"]) == ([3], True)
    assert shown(client, match, stand_in=True) == replied
    Late.opened.set()
    waiting.join()
    assert preparation(client)["is_ready"]
    match |= {"moves": f"{replied['moves']} 2,2", "stood_in": [3]}
    replied = shown(client, match)
    assert [ply["text"] for ply in replied["plies"]][5:] == ["0,1"]
    assert (replied["stood_in"], replied["is_practice"]) == ([3], True)


def test_a_match_with_a_stand_in_does_not_count(client: TestClient) -> None:
    over = described(moves="0,0 1,1 0,1 2,2 0,2", stood_in=[1, 3, 99])
    assert shown(client, over)["stood_in"] == [1, 3]
    assert refused(client, over, learn=True)[0] == 409
    record = answer(client, described("othello", "random", moves="f5d6", stood_in=[1]), show=["file"])["file"]["text"]
    assert "PW[Random and a stand-in]" in record
    for asked in ({"learn": True}, {"valued": 0}):
        status, error = refused(client, described(), advance=True, stand_in=True, **asked)
        assert (status, error.split(":")[0]) == (422, "with stand_in the players are not asked")
