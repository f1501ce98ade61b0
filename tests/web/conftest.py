"""Fixtures of the tests of the page: a complete run, and a server in this process."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from selfplay.api.stages import compare_levels
from selfplay.experience.store import ExperienceStore
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.playing import WebSettings
from selfplay.tabular.learning import BACKWARD_VALUE, initial_values
from selfplay.tabular.table_file import save_tables
from selfplay.web.app import create_app, server_config
from selfplay.web.match_service import MatchService
from tests.support.runs import tiny_settings

ADDRESS = "http://127.0.0.1"
"""A host that the server allows."""


@pytest.fixture(scope="session")
def whole_run(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of tic-tac-toe with levels, a comparison, a table and an experience graph. Copy it to change it."""
    run_dir = tmp_path_factory.mktemp("web") / "run"
    shutil.copytree(tiny_run, run_dir)
    compare_levels(tiny_settings(run_dir, "comparison.matches=20"))
    graph = positions_of("tictactoe")
    run = RunFolder(run_dir)
    run.tabular.mkdir()
    values, settings = initial_values(graph, BACKWARD_VALUE), {"alpha": 0.5, "epsilon": 0.1}
    save_tables(run.tabular / "backward_value.npz", graph, values, BACKWARD_VALUE, settings)
    ExperienceStore(run_dir / "experience.sqlite", make_game("tictactoe")).close()
    return run_dir


@pytest.fixture
def run_dir(whole_run: Path, tmp_path: Path) -> Path:
    """A copy of that run."""
    return Path(shutil.copytree(whole_run, tmp_path / "run"))


def web_settings(run_dir: Path, **changed: object) -> WebSettings:
    return WebSettings(
        **(
            {"run_dir": str(run_dir), "other_runs": str(run_dir.parent), "search_seconds": 0.5, "deepest_search": 4}
            | changed
        )
    )


def client_of(app: FastAPI) -> TestClient:
    return TestClient(app, base_url=ADDRESS)


@pytest.fixture
def service(run_dir: Path) -> MatchService:
    return MatchService(web_settings(run_dir))


class Current:
    """Stands for the service of the running test in the application of all tests, which takes long to build."""

    def __init__(self, service: MatchService) -> None:
        self.service = service

    def __getattr__(self, name: str) -> Any:
        return getattr(self.service, name)


@cache
def shared_app() -> tuple[FastAPI, Current]:
    current = Current(MatchService(web_settings(Path("run"))))
    return create_app(cast(MatchService, current)), current


@pytest.fixture
def app(service: MatchService) -> FastAPI:
    app, current = shared_app()
    current.service = service
    return app


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return client_of(app)


def until(is_so: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until this holds; fail after some time, which is long enough for a busy machine."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


class Server(NamedTuple):
    """A running server."""

    port: int
    service: MatchService

    @property
    def address(self) -> str:
        return f"{ADDRESS}:{self.port}"


@pytest.fixture(scope="session")
def server(whole_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that need one on a port."""
    run_dir = Path(shutil.copytree(whole_run, tmp_path_factory.mktemp("served") / "run"))
    with served(MatchService(web_settings(run_dir))) as server:
        yield server


@contextmanager
def served(service: MatchService) -> Iterator[Server]:
    with serving(create_app(service)) as port:
        yield Server(port, service)


@contextmanager
def serving(app: FastAPI) -> Iterator[int]:
    """The port of a server that runs during the block."""
    running = uvicorn.Server(server_config(app))
    thread = threading.Thread(target=running.run, daemon=True)
    started = threading.Event()
    startup = running.startup

    async def announced(*arguments: object, **options: object) -> None:
        await startup(*arguments, **options)
        started.set()

    running.startup = announced  # type: ignore[method-assign]
    thread.start()
    assert started.wait(60)
    yield running.servers[0].sockets[0].getsockname()[1]
    running.should_exit = True
    thread.join(30)
