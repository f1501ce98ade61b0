"""The API: what is rejected, and how."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from selfplay.web.app import create_app
from selfplay.web.match_schemas import MatchRequest
from selfplay.web.match_service import MatchService
from selfplay.web.request_checks import MAX_BODY_BYTES
from tests.web.conftest import ADDRESS, client_of, web_settings
from tests.web.match_requests import described, refused


def test_an_invalid_body_is_rejected_with_a_sentence(client: TestClient) -> None:
    def sent(**options: Any) -> tuple[int, str]:
        answer = client.post("/api/match", headers={"Content-Type": "application/json"}, **options)
        return answer.status_code, answer.json()["error"]

    for content in (b"{", b"\xff", b'"\xc3', b"[" * 10_000):
        assert sent(content=content) == (422, "the body is not valid JSON")
    assert sent(json={"game": "tictactoe"}) == (422, "opponent: Field required")
    extra = {"game": "tictactoe", "opponent": "random", "run_dir": "/tmp"}
    assert sent(json=extra) == (422, "run_dir: Extra inputs are not permitted")
    assert sent(json=extra | {"person": "third"})[0] == 422
    assert sent(content=b" " * (MAX_BODY_BYTES + 1)) == (
        413,
        f"the body is too large: at most {MAX_BODY_BYTES} bytes are allowed",
    )
    wrong = {"ply": "4", "show": ["moves"], "seed": 0.5, "advance": 1, "moves": None}
    for name, value in wrong.items():
        code, sentence = refused(client, described(), **{name: value})
        assert (code, sentence.partition(":")[0].partition(".")[0]) == (422, name)


def test_matches_of_thousands_of_plies_are_described_as_far_as_a_body_reaches() -> None:
    request = {"game": "draughts", "opponent": "random", "ply": 5000, "valued": 4999, "stood_in": [*range(1500)]}
    assert len(json.dumps(request)) < MAX_BODY_BYTES
    assert MatchRequest(**request).ply == 5000


def test_unknown_addresses_are_not_found(client: TestClient) -> None:
    for address in ("/page/../settings.py", "/page/%2e%2e/settings.py", "/page//etc/passwd", "/page/settings.py", "/x"):
        answer = client.get(address)
        assert (answer.status_code, answer.json()) == (404, {"error": "there is nothing at this address"})


def test_requests_with_another_host_header_are_rejected(client: TestClient) -> None:
    refused = client.get("/", headers={"Host": "elsewhere.example"})
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("the Host header is not allowed")
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
        client.post("/api/match", json=asked, headers=other),
        client.get("/page/main.js", headers=other | {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}),
    ]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert "requests of other sites are not allowed" in answers[0].json()["error"]
    assert client.get("/", headers=other | link).status_code == 200
    for own in ("same-origin", "none"):
        assert client.post("/api/match", json=asked, headers={"Sec-Fetch-Site": own}).status_code == 200


@pytest.mark.parametrize("origin", ["http://127.0.0.1:9", "null"])
def test_an_origin_of_another_site_is_rejected_without_other_headers_too(client: TestClient, origin: str) -> None:
    asked = {"game": "tictactoe", "opponent": "random"}
    assert client.post("/api/match", json=asked, headers={"Origin": origin}).status_code == 403
    assert client.post("/api/match", json=asked, headers={"Origin": ADDRESS}).status_code == 200
