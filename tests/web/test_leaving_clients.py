"""Searches end when the client leaves, over real connections. A player that is kept serves one request at a time."""

import gc
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.errors import TimeLimitError
from selfplay.games import State
from selfplay.players.search import SearchPlayer
from selfplay.search.deadline import StoppedError, current_deadline
from selfplay.search.threads import StopFlag, run_interruptibly
from selfplay.web.game_schemas import ProofView
from selfplay.web.match_service import MatchService
from tests.support.stub_players import FirstLegal
from tests.web.conftest import serving, web_settings
from tests.web.match_requests import Json, described

PATIENCE = 60
SEARCH, QUICK = described(opponent="search-2", person="second"), described(opponent="random", person="second")
KEPT = "tests.web.test_leaving_clients:Alone"


class Endless(NamedTuple):
    """Counts searches that have begun, and those that have ended because they were stopped."""

    begun: threading.Semaphore
    stopped: threading.Semaphore

    def act(self, player: SearchPlayer, state: State, draws: Draws) -> Tensor:
        if current_deadline().is_over:
            raise TimeLimitError("it would only be compiled")

        def search(stop: StopFlag) -> Tensor:
            self.begun.release()
            while stop[0] == 0:
                time.sleep(0.001)
            self.stopped.release()
            raise StoppedError

        return run_interruptibly(search)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    """All searches of opponents."""
    made = Endless(threading.Semaphore(0), threading.Semaphore(0))
    monkeypatch.setattr(SearchPlayer, "act", lambda *arguments: made.act(*arguments))
    return made


class Alone(FirstLegal):
    """Fails if it has to act for two matches at the same time."""

    name = "alone"
    turn = threading.Lock()

    def act(self, state: State, draws: Draws) -> Tensor:
        assert self.turn.acquire(blocking=False)
        time.sleep(0.01)
        self.turn.release()
        return super().act(state, draws)


@pytest.fixture
def service(run_dir: Path) -> MatchService:
    return MatchService(web_settings(run_dir, search_seconds=60, opponents=[KEPT]))


@pytest.fixture
def port(app: FastAPI) -> Iterator[int]:
    with serving(app) as port:
        yield port


def sent(port: int, match: Json, address: str = "127.0.0.1") -> HTTPConnection:
    connection = HTTPConnection("127.0.0.1", port, PATIENCE, (address, 0))
    connection.request(
        "POST", "/api/match", json.dumps(match | {"advance": True}), {"Content-Type": "application/json"}
    )
    return connection


def plies(connection: HTTPConnection) -> int:
    found: Any = json.load(connection.getresponse())
    return len(found["match"]["plies"])


def test_a_search_and_those_that_wait_for_it_end_when_the_client_leaves(
    service: MatchService, port: int, endless: Endless, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching = [sent(port, SEARCH)]
    assert endless.begun.acquire(timeout=PATIENCE)
    waiting = [sent(port, SEARCH | {"seed": seed}) for seed in range(1, 4)]
    until_waiting(service, 3)
    # One address has one search at a time, and its quick requests do not wait for it.
    assert plies(sent(port, QUICK)) == 1
    searching.append(sent(port, SEARCH, "127.0.0.2"))
    assert endless.begun.acquire(timeout=PATIENCE)
    # Those that wait leave first: the server learns in any order who has left.
    leave(waiting)
    until_waiting(service, 0)
    assert not endless.stopped.acquire(blocking=False)
    leave(searching)
    for _ in range(2):
        assert endless.stopped.acquire(timeout=PATIENCE)
    until_none(service)
    monkeypatch.undo()
    assert plies(sent(port, SEARCH)) == 1
    # Those that waited have not begun.
    assert not endless.begun.acquire(blocking=False)


def test_a_proof_that_ends_because_its_client_has_left_is_no_error_in_the_log(
    service: MatchService, port: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def prove(*_: object) -> ProofView:
        begun.set()
        until(lambda: current_deadline().is_cancelled)
        ended.set()
        raise StoppedError

    monkeypatch.setattr(service.proofs, "of", prove)
    client = HTTPConnection("127.0.0.1", port, PATIENCE)
    client.request("GET", "/api/games/tictactoe/proof?opponent=random")
    assert begun.wait(PATIENCE)
    client.close()
    assert ended.wait(PATIENCE)
    until(lambda: service.proving.longest == 0)
    # A task says that its error was never asked for when it is deleted.
    gc.collect()
    assert caplog.messages == []


def leave(connections: Iterable[HTTPConnection]) -> None:
    for connection in connections:
        connection.close()


def until_waiting(service: MatchService, number: int) -> None:
    """Until this number of slow requests are waiting."""
    until(lambda: number == sum(one.statistics().tasks_waiting for one in list(service.slow.clients.values())))


def until_none(service: MatchService) -> None:
    """Until there are no slow requests, neither searching nor waiting."""
    until(lambda: not service.slow.clients)


def until(condition: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 100):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it was not so in time")


def test_a_player_that_is_kept_serves_one_request_after_another(port: int) -> None:
    match = described(opponent=KEPT, person="second")
    asked = [sent(port, match | {"seed": seed}, f"127.0.0.{seed + 1}") for seed in range(6)]
    assert [plies(one) for one in asked] == [1] * 6
