"""The script that starts the server, and the files of the page."""

import errno
import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import TextIO
from urllib.request import urlopen

import pytest
from fastapi.testclient import TestClient
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError, StageError
from selfplay.games import State
from selfplay.settings.playing import WebSettings
from selfplay.web import app as web_app
from selfplay.web.app import serve
from tests.support.runs import PROJECT, forked, run_forked
from tests.support.stub_players import FirstLegal
from tests.web.conftest import Server, until, web_settings
from tests.web.match_requests import described

WEB = PROJECT / "play" / "web.py"
PAGE = PROJECT / "selfplay" / "web" / "page"


@contextmanager
def serving(*settings: str, end: int = signal.SIGINT, errors: str = "") -> Iterator[tuple[str, TextIO]]:
    """A running server: its address and its output, which must end well at Ctrl-C, or another signal, when the block
    does; `errors` is what it then has written to stderr."""
    pipes = [os.pipe() for _ in range(2)]
    streams = [os.open(os.devnull, os.O_RDONLY), *(end for _, end in pipes)]
    child = forked(WEB, ["port=0", *settings], streams)
    for descriptor in streams:
        os.close(descriptor)
    output, error = (os.fdopen(descriptor, encoding="utf-8") for descriptor, _ in pipes)
    with output, error:
        try:
            said = output.readline()
            address = re.fullmatch(r"Play at (http://127\.0\.0\.1:\d+) \(press Ctrl-C to stop\)\n", said)
            assert address, said
            yield address[1], output
        finally:
            os.kill(child, end)
            said = output.read(), error.read()
            _, status = os.waitpid(child, 0)
    assert (os.waitstatus_to_exitcode(status), *said) == (0, "The server has stopped.\n", errors)


def test_the_script_prints_its_address_serves_the_page_and_stops_at_ctrl_c(whole_run: Path) -> None:
    with serving(f"run_dir={whole_run}") as (address, _), urlopen(address, timeout=60) as answer:
        assert b"<title>selfplay</title>" in answer.read()


class Stuck(FirstLegal):
    """Holds a thread, as compiling does, for longer than any test may take."""

    def act(self, state: State, draws: Draws) -> Tensor:
        (Path(os.environ["STUCK"]) / "begun").touch()
        time.sleep(3600)
        raise AssertionError("the server ends before")


def test_sigterm_ends_the_server_while_a_thread_is_held_and_connections_are_open(
    whole_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUCK", str(tmp_path))
    opponents = "opponents=[tests.web.test_server:Stuck]"
    cancelled = "ERROR:    Cancel 1 running task(s), timeout graceful shutdown exceeded\n"
    with serving(f"run_dir={whole_run}", opponents, end=signal.SIGTERM, errors=cancelled) as (address, _):
        port = int(address.rpartition(":")[2])
        idle = socket.create_connection(("127.0.0.1", port))
        connection = HTTPConnection("127.0.0.1", port)
        match = described(opponent="tests.web.test_server:Stuck", person="second", advance=True)
        connection.request("POST", "/api/match", json.dumps(match), {"Content-Type": "application/json"})
        until((tmp_path / "begun").exists)
    assert json.load(connection.getresponse()) == {"error": "the server ends; start it again"}
    idle.close()


def test_broken_requests_do_not_fill_the_log(whole_run: Path) -> None:
    with serving(f"run_dir={whole_run}", errors="WARNING:  Invalid HTTP request received.\n") as (address, _):
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as connection:
                connection.sendall(b"no request\r\n\r\n")
                assert b"400" in connection.recv(100)


@pytest.mark.parametrize("size", [20_000, 100_000, 200_000])
@pytest.mark.parametrize(("part", "status"), [("target", 431), ("header", 431), ("body", 413)])
def test_large_requests_are_answered_before_the_connection_ends(
    server: Server, part: str, status: int, size: int
) -> None:
    sent = {name: "x" * (size if name == part else 1) for name in ("target", "header", "body")}
    head = (
        f"POST /api/match?{sent['target']} HTTP/1.1\r\nHost: localhost\r\nX: {sent['header']}\r\nConnection: close\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: {len(sent['body'])}\r\n\r\n{sent['body']}".encode())
        with connection.makefile("rb") as answer:
            said = answer.read().decode()
    assert said.startswith(f"HTTP/1.1 {status} ")
    assert "too large" in said.rpartition("\r\n\r\n")[2]


def test_one_client_cannot_take_all_connections(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_app, "MOST_OF_CLIENT", 3)
    place = "127.0.0.1", server.port
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(socket.create_connection(place, 60, ("127.0.0.2", 0))) for _ in range(5)]
        # The last ones are closed without an answer.
        for one in held[3:]:
            with suppress(ConnectionError):
                assert one.recv(1) == b""
        with socket.create_connection(place, 60, ("127.0.0.3", 0)) as other:
            for one in (*held[:3], other):
                one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert one.recv(15) == b"HTTP/1.1 200 OK"


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run_forked(WEB, "--port", port, f"run_dir={tmp_path}")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert (
        f"cannot listen on 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}; choose another host or port"
        in result.stderr
    )


def test_no_connection_is_accepted_before_the_page_can_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def connect(_: object) -> None:
        socket.create_connection(("127.0.0.1", port), timeout=1)

    monkeypatch.setattr("selfplay.web.app.create_app", connect)
    with pytest.raises(ConnectionRefusedError):
        serve(web_settings(tmp_path, port=port))


@pytest.mark.parametrize(
    "changed",
    [{"port": 70000}, {"client_searches": 0}],
)
def test_settings_out_of_range_are_rejected(changed: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=next(iter(changed))):
        WebSettings(run_dir="run", **changed)


def test_the_page_refers_to_no_other_server() -> None:
    served = {path.name for path in PAGE.iterdir()}
    for path in PAGE.iterdir():
        text = path.read_text()
        assert not set(re.findall(r"(?:https?:)?//[\w.]+\.\w+", text)) - {"http://www.w3.org"}, path.name
        for name in re.findall(r"""(?:from|src=|href=)\s*["'](?:\./|page/)([\w.]+)["']""", text):
            assert name in served, f"{path.name} needs {name}"


@pytest.mark.parametrize(
    ("address", "target"),
    [("/docs/?a=b", "../docs?a=b"), ("/page", "./page/"), ("/api/games/", "../../api/games")],
)
def test_redirects_are_relative(address: str, target: str, client: TestClient) -> None:
    assert client.get(address, follow_redirects=False).headers["Location"] == target


@pytest.mark.parametrize("host", ["a b", "http://127.0.0.1"])
def test_a_host_that_is_not_one_is_rejected(host: str) -> None:
    with pytest.raises(SettingError, match=r"^host=.*: must be an address or name, such as 127\.0\.0\.1"):
        WebSettings(run_dir="run", host=host)
    with pytest.raises(SettingError, match=r"^hosts=.*: must be an address or name"):
        WebSettings(run_dir="run", hosts=["games.local", host])


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]"])
def test_all_addresses_need_named_hosts(host: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"listens on all addresses .* for example hosts=\[192\.168\.0\.7"):
        serve(web_settings(tmp_path, host=host, port=0))


def test_a_host_that_cannot_be_found_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"cannot listen on .*; choose another host or port") as refused:
        serve(web_settings(tmp_path, host="no.such.name.invalid", port=0))
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_a_page_that_others_can_reach_is_announced_with_a_warning(whole_run: Path) -> None:
    with serving(f"run_dir={whole_run}", "host=0.0.0.0", "hosts=[127.0.0.1]") as (address, output):
        assert output.readline().startswith("Other computers in the network can reach this page")
        with urlopen(address, timeout=60) as answer:
            assert answer.status == 200
