"""The first use of opponents by one client, over real connections: they are loaded once, and others do not wait."""

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import ClassVar

import pytest
from fastapi import FastAPI

from selfplay.games import Game
from selfplay.players.player import Player
from selfplay.web import loaded_players
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.loaded_players import made_player
from selfplay.web.match_service import MOST_WAITING, MatchService
from selfplay.web.request_checks import MOST_REQUESTS
from tests.support.stub_players import FirstLegal
from tests.web.conftest import serving, until, web_settings
from tests.web.match_requests import Json, described

HELD = "tests.web.test_first_use:Held"
GAMES = ("tictactoe", "connect_four", "othello", "gomoku", "hex")
GREEDY, OTHER = "127.0.0.2", "127.0.0.3"


class Held(FirstLegal):
    """Takes until `opened` to be loaded."""

    name = "held"
    loads: ClassVar[list[str]] = []
    opened = threading.Event()

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.loads.append(game.name)
        assert self.opened.wait(100)


@pytest.fixture(autouse=True)
def held() -> Iterator[None]:
    Held.loads.clear()
    Held.opened.clear()
    yield
    Held.opened.set()


@pytest.fixture
def service(run_dir: Path) -> MatchService:
    return MatchService(web_settings(run_dir, opponents=[HELD]))


@pytest.fixture
def port(app: FastAPI) -> Iterator[int]:
    with serving(app) as port:
        yield port


def asked(port: int, match: Json, address: str) -> HTTPConnection:
    connection = HTTPConnection("127.0.0.1", port, 100, (address, 0))
    body = json.dumps(match | {"advance": True})
    connection.request("POST", "/api/match", body, {"Content-Type": "application/json"})
    return connection


def file_of_page(port: int, path: str, address: str) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", port, 100, (address, 0))
    connection.request("GET", path)
    return connection.getresponse()


def plies(connection: HTTPConnection) -> int:
    return len(json.load(connection.getresponse())["match"]["plies"])


def first_use(game: str) -> Json:
    return described(game, HELD, person="second")


def test_others_do_not_wait_while_an_opponent_is_loaded_once_for_a_client_with_many_requests(
    port: int, service: MatchService
) -> None:
    greedy = [asked(port, first_use(game) | {"seed": seed}, GREEDY) for seed in range(12) for game in GAMES]
    until(lambda: Held.loads)
    # One of its requests is served and MOST_WAITING wait; the others are refused.
    until(lambda: len(service.slow_requests) == 1 + MOST_WAITING)
    for path in ("/", "/page/main.js", "/page/style.css"):
        assert [file_of_page(port, path, address).status for address in (OTHER, GREEDY)] == [200, 200]
    assert plies(asked(port, described(opponent="level-1", person="second"), OTHER)) == 1
    assert plies(asked(port, described(opponent="search-2", person="second"), OTHER)) == 1
    assert len(Held.loads) == 1
    for connection in greedy:
        connection.close()
    until(lambda: len(service.slow_requests) == 0)
    # Nothing more is loaded for the clients that have left.
    Held.opened.set()
    game = Held.loads[0]
    assert plies(asked(port, first_use(game), OTHER)) == 1
    assert Held.loads == [game]


def test_all_requests_that_wait_for_an_opponent_get_the_one_that_is_loaded(port: int) -> None:
    waiting = [asked(port, first_use("tictactoe") | {"seed": seed}, GREEDY) for seed in range(MOST_WAITING)]
    until(lambda: Held.loads)
    other = asked(port, first_use("tictactoe"), OTHER)
    Held.opened.set()
    assert [plies(one) for one in (*waiting, other)] == [1] * (MOST_WAITING + 1)
    assert Held.loads == ["tictactoe"]


def test_the_requests_of_a_client_share_its_searches(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[str]()

    def counted(offer: OfferedPlayer) -> Player:
        made.append(offer.id)
        return made_player(offer)

    monkeypatch.setattr(loaded_players, "made_player", counted)
    match = described(opponent="search-2", person="second")
    waiting = [asked(port, match | {"seed": seed}, GREEDY) for seed in range(MOST_WAITING)]
    assert [plies(one) for one in waiting] == [1] * MOST_WAITING
    assert made == ["search-2"]


def test_a_client_with_too_many_requests_is_refused_but_gets_the_files_of_the_page(
    port: int, service: MatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, opponents = threading.Event(), service.catalog.opponents
    monkeypatch.setattr(service.catalog, "opponents", lambda game: (gate.wait(100), opponents(game))[1])
    monkeypatch.setattr(service, "slow_requests", type(service.slow_requests)(1000, ""))
    waiting = [HTTPConnection("127.0.0.1", port, 100, (GREEDY, 0)) for _ in range(MOST_REQUESTS)]
    for connection in waiting:
        connection.request("GET", "/api/games/hex/opponents")
    until(lambda: len(service.slow_requests) == MOST_REQUESTS)
    refused = file_of_page(port, "/api/games", GREEDY)
    assert (refused.status, refused.headers["Retry-After"], refused.headers["Connection"]) == (503, "2", "close")
    assert f"{MOST_REQUESTS} requests of this client are waiting" in json.load(refused)["error"]
    assert file_of_page(port, "/page/main.js", GREEDY).status == 200
    assert file_of_page(port, "/api/games", OTHER).status == 200
    gate.set()
    assert {one.getresponse().status for one in waiting} == {200}
