"""The API: what is rejected, and how."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from selfplay.web.app import MAX_BODY_BYTES, create_app
from selfplay.web.matches import MatchService
from tests.web.conftest import ADDRESS, Clock, client_of, web_settings
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
    first, second = begin(client), begin(client)
    clock.now += 20
    # The time to expire counts from the last use.
    assert client.get(f"/api/matches/{second['id']}").status_code == 200
    refused = client.post("/api/matches", json={"game": "tictactoe", "opponent": "random"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "40")
    assert "2 matches are open" in refused.json()["error"]
    clock.now += 40
    begin(client)
    assert client.get(f"/api/matches/{first['id']}").status_code == 404
    assert client.get(f"/api/matches/{second['id']}").status_code == 200


def test_requests_with_another_host_header_are_rejected(client: TestClient) -> None:
    refused = client.get("/", headers={"Host": "elsewhere.example"})
    assert (refused.status_code, refused.text) == (400, "Invalid host header")
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
        assert client.get("/", headers={"Host": host}).status_code == 200
    for answer in (refused, client.get("/")):
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_named_hosts_are_allowed_and_others_are_not(run_dir: Path) -> None:
    settings = web_settings(run_dir, host="0.0.0.0", hosts=["Games.local", "fe80::7"])
    client = client_of(create_app(MatchService(settings)))
    for host in ("games.local:8000", "[fe80::7]", "localhost"):
        assert client.get("/", headers={"Host": host}).status_code == 200
    for host in ("elsewhere.example", "192.168.0.7", "", "[::1", "[::1]x"):
        assert client.get("/", headers={"Host": host}).status_code == 400


def test_requests_of_other_sites_are_rejected_except_links_to_the_page(client: TestClient) -> None:
    other, link = {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    asked = {"game": "tictactoe", "opponent": "random"}
    answers = [
        client.get("/api/games", headers=other),
        client.get("/api/games", headers=other | link),
        client.post("/api/matches", json=asked, headers=other),
        client.get("/page/main.js", headers=other | {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}),
    ]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert "requests of other sites are not allowed" in answers[0].json()["error"]
    assert client.get("/", headers=other | link).status_code == 200
    for own in ("same-origin", "none"):
        assert client.post("/api/matches", json=asked, headers={"Sec-Fetch-Site": own}).status_code == 201


@pytest.mark.parametrize("origin", ["http://127.0.0.1:9", "null"])
def test_an_origin_of_another_site_is_rejected_without_other_headers_too(client: TestClient, origin: str) -> None:
    asked = {"game": "tictactoe", "opponent": "random"}
    assert client.post("/api/matches", json=asked, headers={"Origin": origin}).status_code == 403
    assert client.post("/api/matches", json=asked, headers={"Origin": ADDRESS}).status_code == 201


def test_one_client_cannot_open_all_matches(run_dir: Path, clock: Clock) -> None:
    service = MatchService(web_settings(run_dir, match_limit=3, client_match_limit=2, match_minutes=1), clock)
    app = create_app(service)
    one, other = (TestClient(app, ADDRESS, client=(address, 5000)) for address in ("2001:db8::1", "192.0.2.7"))
    begin(one), begin(one)
    refused = one.post("/api/matches", json={"game": "tictactoe", "opponent": "random"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    assert "2 matches are open, which is the limit of each client" in refused.json()["error"]
    begin(other)
    assert len(service.matches) == 3
