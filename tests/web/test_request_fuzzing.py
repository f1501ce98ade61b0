"""Random and damaged requests to the server as a process: none fails inside, hangs, or logs a traceback."""

import random
import re
import signal
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.support.runs import PROJECT, interruptible

pytestmark = pytest.mark.slow

REQUESTS = 1200
LONGEST_SECONDS = 10.0
QUIET_SECONDS = 0.2
"""Time without an answer after which the client closes its side of the connection."""
MOST_GROWTH_KB = 400_000
ENDS = [b"best", b"\xc2\xb2", b"99999999999999999999", b"007"]
"""Ends of the names of folders beside the levels."""

METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "\x00", "G ET"]
WORDS = [
    *("", "tictactoe", "sumto100", "othello_4x4", "chess", "random", "perfect", "level-1", "level-99", "search-1"),
    *("table-backward_value", "memory-experience", "level-²", "..", "%2e%2e", "%00", "%ff", "a" * 3000, "../x", "null"),
    *("level-99999999999999999999", "tabular:/etc/passwd", "gtp:sh", "\U0001f600", "-1", "1e9"),
]
VALUES = [
    *('"tictactoe"', '"random"', '"first"', '"second"', "0", "4", "-1", "1.5", "true", "null", "[]", "{}", "1e999"),
    *(
        '"1,1 0,0"',
        '"both"',
        '"none"',
        '{"squares": [0,0,0,0,0,0,0,0,0], "to_move": 0}',
        '{"squares": [7], "to_move": 2}',
    ),
    *("9" * 5000, '"\\ud800"', "[" * 500, '"' + "x" * 5000 + '"', "NaN", str(2**63), '"level-1"', '"search-1"'),
]
BEGIN = b"\r\n".join(
    [
        b"POST /api/matches HTTP/1.1",
        *(b"Host: 127.0.0.1", b"Connection: close", b"Content-Type: application/json", b"Content-Length: 43"),
        *(b"", b'{"game": "tictactoe", "opponent": "random"}'),
    ]
)
KEYS = [
    "game",
    "opponent",
    "person",
    "action",
    "ply",
    "run_dir",
    "\\u0000",
    "moves",
    "position",
    "partner",
    "is_practice",
]
HEADERS = [
    *("Host: elsewhere", "Host:", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 5"),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Connection: close", "Connection: Upgrade"),
    *("Upgrade: websocket", "Upgrade: h2c", "Expect: 100-continue", "Sec-Fetch-Site: cross-site", "Range: bytes=0-"),
    *("If-None-Match: *", "Content-Type: text/plain", "Content-Type: application/json; charset=x", "A" * 20000 + ": b"),
    *("X-Forwarded-For: 192.0.2.9", "Sec-WebSocket-Key: x", "Cookie: \xff\xfe", " folded", "no colon", ": empty"),
]


def path(chance: random.Random, match: str) -> str:
    word = chance.choice(WORDS)
    return chance.choice(
        [
            *("/", "/docs", "/openapi.json", f"/page/{word}", "*", "http://127.0.0.1/", f"/{word}", "/api/games"),
            *(f"/api/games/{word}/{what}" for what in ("opponents", "story", f"proof?opponent={chance.choice(WORDS)}")),
            *(f"/api/games/tictactoe/proof?opponent={word}", "/api/matches", "/api/matches", f"/api/matches/{word}"),
            *(
                f"/api/matches/{match}/{what}"
                for what in (
                    *("actions", "reply", "undo", "next", "hint", "opponent", word, "rewind", "file"),
                    *(f"positions/{word}", f"line?ply={word}", f"perfect?ply={word}", "positions/0"),
                )
            ),
        ]
    )


def body(chance: random.Random) -> bytes:
    pairs = [f'"{chance.choice(KEYS)}": {chance.choice(VALUES)}' for _ in range(chance.randrange(4))]
    valid = ['{"game": "tictactoe", "opponent": "random"}', '{"action": 0, "ply": 0}', '{"opponent": "level-1"}', ""]
    text = chance.choice([*valid, "{" + ", ".join(pairs) + "}", " " * 20_000])
    return text.encode()


def request(chance: random.Random, match: str) -> bytes:
    """A request that is valid HTTP half of the time, and otherwise damaged in one or more ways."""
    if chance.random() < 0.05:
        return BEGIN
    is_valid = chance.random() < 0.5
    content, method = body(chance), chance.choice(METHODS[: 3 if is_valid else len(METHODS)])
    lines = [f"{method} {path(chance, match)} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    if is_valid or chance.random() < 0.8:
        lines.append("Connection: close")
    if is_valid or chance.random() < 0.9:
        lines.append(f"Content-Length: {len(content)}")
    if not is_valid and chance.random() < 0.4:
        lines += chance.choices(HEADERS, k=chance.choice([1, 1, 3]))
    sent = bytearray("\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n" + content)
    if is_valid:
        return bytes(sent)
    for _ in range(chance.choice([0, 0, 0, 1, 5])):
        sent[chance.randrange(len(sent))] = chance.randrange(256)
    if chance.random() < 0.1:
        del sent[chance.randrange(len(sent)) :]
    return bytes(sent) * chance.choice([1, 1, 1, 1, 3])


def send(port: int, chance: random.Random, content: bytes) -> list[int]:
    """The statuses of the answers. The client may leave early or at once."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=LONGEST_SECONDS)) as client:
        answer = b""
        try:
            client.sendall(content)
            if chance.random() < 0.1:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return []
            client.settimeout(QUIET_SECONDS)
            with suppress(TimeoutError):
                while part := client.recv(65536):
                    answer += part
                return statuses_in(answer)
            # The server waits for more; it then knows that nothing will come.
            client.shutdown(socket.SHUT_WR)
            client.settimeout(LONGEST_SECONDS)
            while part := client.recv(65536):
                answer += part
        except ConnectionError:
            pass
    return statuses_in(answer)


def statuses_in(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"^HTTP/1\.1 (\d{3}) ", answer, re.MULTILINE)]


def memory_kb(process_id: int) -> int:
    line = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process_id}/status").read_text())
    assert line
    return int(line[1])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


@pytest.fixture
def process(run_dir: Path, log: Path) -> Iterator[tuple[int, int]]:
    """The id and the port of a server that writes its log to `log`."""
    for end in ENDS:
        folder = Path(str(run_dir / "level_") + end.decode())
        folder.mkdir()
        (folder / "agent.safetensors").write_bytes(b"no agent")
    command = [sys.executable, str(PROJECT / "play" / "web.py"), "port=0", f"run_dir={run_dir}", "search_seconds=0.5"]
    with log.open("w") as errors, interruptible(command, stderr=errors) as server:
        assert server.stdout is not None
        try:
            yield server.pid, int(re.findall(r"127\.0\.0\.1:(\d+)", server.stdout.readline())[0])
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0
        finally:
            server.kill()


def test_random_requests_are_answered_or_closed_in_time(process: tuple[int, int], log: Path) -> None:
    (server_id, port), chance, statuses = process, random.Random(8), Counter[int]()
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as client:
        client.sendall(BEGIN)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    match = re.findall(rb'"id":"([\w-]{10,})"', answer)[0].decode()
    before, slowest = memory_kb(server_id), 0.0
    for _ in range(REQUESTS):
        content, start = request(chance, match), time.monotonic()
        found = send(port, chance, content)
        slowest = max(slowest, time.monotonic() - start)
        assert not [status for status in found if status >= 500 and status not in (501, 503)], content
        statuses.update(found)
    assert slowest < LONGEST_SECONDS
    assert memory_kb(server_id) - before < MOST_GROWTH_KB
    assert {200, 201, 400, 403, 404, 405, 409, 414, 422} <= set(statuses), statuses
    text = log.read_text()
    assert "Traceback" not in text
    assert "never retrieved" not in text
