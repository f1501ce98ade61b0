"""Slow and hostile clients: what they send is limited, and others are answered meanwhile."""

import logging
import socket
import struct
import time
from collections.abc import Callable
from contextlib import closing
from urllib.request import urlopen

import pytest

from selfplay.web import connection_limits
from selfplay.web.connection_limits import MAX_HEAD_BYTES, MAX_PIPELINED_REQUESTS, client_of
from tests.web.conftest import Server

HEAD = b"GET /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/matches HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SHORT = 0.5
"""A time limit for tests, in seconds."""


def connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def received(client: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    answer = b""
    try:
        while part := client.recv(65536):
            answer += part
    except ConnectionError:
        pass
    return answer


def answers(server: Server) -> bool:
    """Whether another client is answered."""
    with urlopen(f"{server.address}/api/games", timeout=10) as answer:
        return bool(answer.status == 200)


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::1", "::1"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        (None, ""),
    ],
)
def test_a_client_is_an_address_or_a_network_of_ipv6(address: str | None, client: str) -> None:
    assert client_of(address) == client


@pytest.mark.parametrize("line", [b"a: b\r\n", b"a" * 50, b"a: " + b"b" * 1000 + b"\r\n"])
def test_endless_headers_end_at_the_limit(server: Server, line: bytes) -> None:
    with closing(connected(server)) as client:
        sent, answer = len(HEAD), b""
        client.sendall(HEAD)
        while sent <= 2 * MAX_HEAD_BYTES:
            try:
                client.sendall(line)
            except ConnectionError:
                break
            sent += len(line)
        answer = received(client)
        # The answer may be lost if the connection is reset because the client was still sending.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    assert answers(server)


@pytest.mark.parametrize(
    ("first", "piece", "status"),
    [
        (HEAD, b"a: b\r\n", b"HTTP/1.1 408 "),
        (b"", b"", b""),
        (POST + b"Content-Length: 10000\r\n\r\n", b" ", b""),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", b""),
    ],
)
def test_a_request_that_is_not_complete_in_time_is_ended(
    server: Server, monkeypatch: pytest.MonkeyPatch, first: bytes, piece: bytes, status: bytes
) -> None:
    monkeypatch.setattr(connection_limits, "REQUEST_SECONDS", SHORT)
    start, answer, is_open = time.monotonic(), b"", True
    with closing(connected(server)) as client:
        client.sendall(first)
        client.settimeout(0.05)
        while is_open and time.monotonic() < start + 10:
            try:
                client.sendall(piece)
                part = client.recv(1000)
                answer, is_open = answer + part, bool(part)
            except TimeoutError:
                continue
            except ConnectionError:
                is_open = False
    assert not is_open
    # An event loop reads its clock once an iteration, so its timers may end a little early.
    assert SHORT - 0.1 < time.monotonic() - start < 10
    assert answer[: len(status)] == status


def test_a_client_that_takes_no_answers_is_disconnected(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "ANSWER_SECONDS", SHORT)
    request = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.settimeout(0.05)
        wait_until(lambda: not is_open_after(client, request))
    assert answers(server)


def is_open_after(client: socket.socket, request: bytes) -> bool:
    """Send the request without waiting for the server to take it."""
    try:
        client.sendall(request)
    except TimeoutError:
        return True
    except ConnectionError:
        return False
    return True


def test_connections_of_one_client_are_limited(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CLIENT_CONNECTIONS", 8)
    held = [connected(server) for _ in range(8)]
    try:
        for client in held:
            client.sendall(HEAD)
        with closing(connected(server)) as refused:
            assert received(refused).startswith(b"HTTP/1.1 503 ")
        other = socket.create_connection(("127.0.0.1", server.port), timeout=30, source_address=("127.0.0.2", 0))
        with closing(other):
            other.sendall(HEAD + b"Connection: close\r\n\r\n")
            assert received(other).startswith(b"HTTP/1.1 200 ")
        held.pop().close()
        wait_until(lambda: is_accepted(server))
    finally:
        for client in held:
            client.close()


def is_accepted(server: Server) -> bool:
    with closing(connected(server)) as client:
        try:
            client.sendall(HEAD + b"Connection: close\r\n\r\n")
        except ConnectionError:
            return False
        return received(client).startswith(b"HTTP/1.1 200 ")


def wait_until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.005)


def test_pipelined_requests_are_answered_in_order_up_to_a_limit(server: Server) -> None:
    request = HEAD + b"\r\n"
    with closing(connected(server)) as client:
        client.sendall(request * 5 + HEAD + b"Connection: close\r\n\r\n")
        assert received(client).count(b"HTTP/1.1 200 ") == 6
    with closing(connected(server)) as client:
        client.sendall(request * (MAX_PIPELINED_REQUESTS + 50))
        assert received(client).count(b"HTTP/1.1 200 ") < MAX_PIPELINED_REQUESTS + 50
    assert answers(server)


def test_a_connection_serves_several_requests_longer_than_the_time_limit(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "REQUEST_SECONDS", SHORT)
    with closing(connected(server)) as client:
        for _ in range(4):
            client.sendall(HEAD + b"\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
            time.sleep(SHORT / 2)


@pytest.mark.parametrize("reset", [False, True])
def test_a_client_that_leaves_is_not_an_error(
    server: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, reset: bool
) -> None:
    sent = [
        HEAD,
        POST + b"Content-Length: 1000\r\n\r\n{",
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n",
        HEAD + b"\r\n",
        b"GET /api/games/tictactoe/proof?opponent=search-2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /api/games/tictactoe/proof?opponent=none HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 20000\r\n\r\n{"
        + b"x" * 19999,
    ]
    # It does not pass its records on.
    monkeypatch.setattr(logging.getLogger("uvicorn"), "handlers", [caplog.handler])
    for request in sent * 3:
        with closing(connected(server)) as client:
            client.sendall(request)
            time.sleep(0.02)
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert answers(server)
    assert [record.getMessage() for record in caplog.records] == []
