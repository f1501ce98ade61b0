"""The API: what is rejected, and how."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from selfplay.web.app import allowed_hosts, create_app
from selfplay.web.match_service import MatchService
from selfplay.web.request_checks import MAX_BODY_BYTES
from tests.web.conftest import Clock, client_of, web_settings
from tests.web.match_requests import act, begin


def test_illegal_early_and_outdated_actions_are_rejected_with_the_reason(client: TestClient) -> None:
    match = begin(client)
    address = f"/api/matches/{match['id']}/actions"
    out_of_range = client.post(address, json={"action": 9, "ply": 0})
    assert out_of_range.status_code == 409
    assert "action 9 is not legal here" in out_of_range.json()["error"]
    stale = client.post(address, json={"action": 1, "ply": 3})
    assert (stale.status_code, stale.json()["error"]) == (409, "this match has 0 plies, not 3; load it again")
    act(client, match, 4)
    stale = client.post(address, json={"action": 1, "ply": 0})
    assert stale.json()["error"] == "this match has 1 ply, not 0; load it again"
    early = client.post(address, json={"action": 0, "ply": 1})
    assert (early.status_code, early.json()["error"]) == (409, "it is not a person's turn")
    assert client.get(f"/api/matches/{match['id']}").json()["plies"][0]["action"] == 4


def test_an_invalid_body_is_rejected_with_a_sentence(client: TestClient) -> None:
    def refused(**options: Any) -> tuple[int, str]:
        answer = client.post("/api/matches", headers={"Content-Type": "application/json"}, **options)
        return answer.status_code, answer.json()["error"]

    for content in (b"{", b"\xff", b'"\xc3', b"[" * 10_000):
        assert refused(content=content) == (422, "the body is not valid JSON")
    assert refused(json={"game": "tictactoe"}) == (422, "opponent: Field required")
    extra = {"game": "tictactoe", "opponent": "random", "run_dir": "/tmp"}
    assert refused(json=extra) == (422, "run_dir: Extra inputs are not permitted")
    assert refused(json=extra | {"person": "third"})[0] == 422
    assert refused(content=b" " * (MAX_BODY_BYTES + 1)) == (
        413,
        f"the body is too large: at most {MAX_BODY_BYTES} bytes are allowed",
    )
    match = begin(client)
    wrong = client.post(f"/api/matches/{match['id']}/actions", json={"action": "4", "ply": 0})
    assert (wrong.status_code, wrong.json()["error"]) == (422, "action: Input should be a valid integer")


def test_unknown_addresses_and_matches_are_not_found(client: TestClient) -> None:
    assert client.get("/api/matches/nothing").json()["error"].startswith("unknown match")
    for address in ("/page/../settings.py", "/page/%2e%2e/settings.py", "/page//etc/passwd", "/page/settings.py", "/x"):
        answer = client.get(address)
        assert (answer.status_code, answer.json()) == (404, {"error": "there is nothing at this address"})


def test_a_match_beyond_the_limit_must_wait_and_expired_matches_make_room(run_dir: Path, clock: Clock) -> None:
    service = MatchService(web_settings(run_dir, match_limit=2, match_minutes=1), clock)
    client = client_of(create_app(service))
    first, _ = begin(client), begin(client)
    clock.now += 20
    refused = client.post("/api/matches", json={"game": "tictactoe", "opponent": "random"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "40")
    assert "2 matches are open" in refused.json()["error"]
    clock.now += 40
    begin(client)
    assert client.get(f"/api/matches/{first['id']}").status_code == 404
    assert len(service.matches) == 1


def test_closing_a_match_makes_room_for_another(client: TestClient, service: MatchService) -> None:
    match = begin(client)
    assert client.delete(f"/api/matches/{match['id']}").status_code == 204
    assert client.delete(f"/api/matches/{match['id']}").status_code == 404
    assert len(service.matches) == 0


def test_requests_with_another_host_header_are_rejected(client: TestClient) -> None:
    refused = client.get("/", headers={"Host": "elsewhere.example"})
    assert (refused.status_code, refused.json()) == (
        400,
        {"error": "unknown host: use the address that the server printed at its start"},
    )
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
        assert client.get("/", headers={"Host": host}).status_code == 200
    for answer in (refused, client.get("/")):
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(("host", "name"), [("::1", "[::1]"), ("[::1]", "[::1]"), ("192.168.0.7", "192.168.0.7")])
def test_the_address_of_the_server_is_an_allowed_host(host: str, name: str) -> None:
    assert allowed_hosts(host) == {name, "localhost", "127.0.0.1", "[::1]"}
    assert allowed_hosts("0.0.0.0") is None
