"""Hostile clients: what they send is limited, and others are answered meanwhile."""

import logging
import socket
import struct
import time
from contextlib import closing
from urllib.request import urlopen

import pytest

from selfplay.web.server import MOST_HEAD_BYTES
from tests.web.conftest import Server

HEAD = b"GET /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/matches HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


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


@pytest.mark.parametrize("line", [b"a: b\r\n", b"a" * 50, b"a: " + b"b" * 1000 + b"\r\n"])
def test_endless_headers_end_at_the_limit(server: Server, line: bytes) -> None:
    with closing(connected(server)) as client:
        sent, answer = len(HEAD), b""
        client.sendall(HEAD)
        while sent <= 2 * MOST_HEAD_BYTES:
            try:
                client.sendall(line)
            except ConnectionError:
                break
            sent += len(line)
        answer = received(client)
        # The answer may be lost if the connection is reset because the client was still sending.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert answers(server)


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
