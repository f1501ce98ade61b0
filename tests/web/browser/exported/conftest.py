"""Fixtures of the tests of exported pages: their addresses, and a page in the browser."""

import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from selfplay.agents.pretrained import pretrained_agents
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.export_page import export_page
from tests.web.browser.exported.pages import GAME_OF, NETWORKS, POLICY, network_run


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="package")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`network_run` of an architecture and a game, made once."""
    return cache(lambda architecture, name="": network_run(tmp_path_factory.mktemp("run"), architecture, name=name))


@pytest.fixture(scope="package")
def address(
    tiny_run: Path, run_of: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], str]]:
    """From the name of a game, or of one of NETWORKS, to the address of its exported page."""
    folder = tmp_path_factory.mktemp("sites")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    @cache
    def of(game: str) -> str:
        run_dir, name = (run_of(game), GAME_OF[game]) if game in NETWORKS else (tiny_run, game)
        if game == name and name not in ("tictactoe", *pretrained_agents()):
            run_dir = run_of(POLICY, game)
        opponent = "pretrained" if game in pretrained_agents() else None
        export_page(
            ExportPageSettings(str(run_dir), GameSettings(name), opponent=opponent, output_dir=str(folder / game))
        )
        return f"http://127.0.0.1:{server.server_port}/{game}/"

    yield of
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="package")
def exported_tab(browser: Browser) -> Page:
    return browser.new_page()


@pytest.fixture
def exported(exported_tab: Page, address: Callable[[str], str]) -> Iterator[Page]:
    """A page of an exported one, kept open, which must not log errors, as browsers do where a file is missing."""
    page, faults = exported_tab, list[str]()
    listeners = {
        "pageerror": lambda error: faults.append(str(error)),
        "console": lambda message: faults.append(message.text) if message.type == "error" else None,
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    yield page
    page.goto("about:blank")
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert faults == []
