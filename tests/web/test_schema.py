"""The server conforms to its OpenAPI description for any request (Schemathesis)."""

import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from selfplay.web.app import create_app
from selfplay.web.match_service import MatchService
from tests.web.conftest import ADDRESS, client_of, web_settings

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
OPPONENTS = ["random", "level-2", "search-1", "memory-experience"]
OPERATIONS = ["games", "game", "opponents", "rules", "preparation", "proof", "story", "runs", "match"]


@pytest.fixture(scope="module")
def app(whole_run: Path, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    run_dir = Path(shutil.copytree(whole_run, tmp_path_factory.mktemp("described") / "run"))
    return create_app(MatchService(web_settings(run_dir)))


def made_real(case: Any, number: int) -> None:
    """Replace the invented names in a request by a game and a real opponent."""
    opponent = OPPONENTS[number % len(OPPONENTS)]
    if "game" in case.path_parameters:
        case.path_parameters["game"] = "tictactoe"
    if case.query and "opponent" in case.query:
        case.query["opponent"] = opponent
    if isinstance(case.body, dict):
        unknown = ("partner", "adviser", "position", "dead", "ply", "valued")
        case.body |= {name: None for name in unknown if name in case.body}
        case.body |= {"game": "tictactoe", "opponent": opponent, "moves": "1,1", "learn": False, "seed": number}
        # Dead stones are asked for in matches of Go whose players have both passed.
        case.body["show"] = [part for part in case.body.get("show", ["view"]) if part != "dead"]


@pytest.fixture(scope="module")
def description(app: FastAPI) -> Any:
    return schemathesis.openapi.from_asgi("/openapi.json", app, headers={"Host": "127.0.0.1"})


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_answers_follow_the_openapi_description_whatever_is_sent(
    app: FastAPI, description: Any, operation_id: str
) -> None:
    operation = description.find_operation_by_id(operation_id)
    numbers, codes = count(), set()

    @given(case=operation.as_strategy())
    @settings(max_examples=4, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    def send(case: Any) -> None:
        number = next(numbers)
        if number % 2:
            made_real(case, number // 2)
        case.headers["Host"] = "127.0.0.1"
        codes.add(case.call_and_validate(base_url=ADDRESS, checks=CHECKS).status_code)

    send()
    # Some requests succeeded.
    assert 200 in codes


def test_the_openapi_description_and_its_page_are_served(app: FastAPI) -> None:
    client = client_of(app)
    paths = client.get("/openapi.json").json()["paths"]
    found = {operation["operationId"] for methods in paths.values() for operation in methods.values()}
    assert found == set(OPERATIONS)
    assert "docs.js" in client.get("/docs").text
