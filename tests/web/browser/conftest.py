"""Fixtures of the tests in a browser: one browser and one page for all of them."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from selfplay.compute.random_numbers import Draws
from selfplay.games import Game
from selfplay.games.state import State
from selfplay.players.player import ActionValues
from selfplay.playing.judge import Judge
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.match_service import MatchService
from selfplay.web.offers import judge_offer
from tests.support.stub_players import Valuing
from tests.web.browser.browsing import PATIENCE_MS
from tests.web.conftest import Server, served, web_settings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Without these a browser run by root does not start, or sends requests of its own.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Each visit would start a process of its own, which takes a quarter of it.
    "--process-per-site",
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """While it is open, this thread cannot run another event loop, so it is closed after the tests of this folder."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium)")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class MadeUp(Valuing):
    """In discs, in games that count them."""

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        return ActionValues(self.action_values(state), points_per_value=100.0 if self.game.counts_discs else None)


def made_up_judge(game: Game, run_dir: Path) -> OfferedPlayer:
    """Gives made-up values at once, where the real judge has to compile its search of the game."""
    return replace(judge_offer(game, run_dir), make=lambda: Judge(game, MadeUp(game)))


@pytest.fixture(scope="package")
def server(whole_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose moves are judged by made-up values, except those of games that can be solved."""
    run_dir = Path(shutil.copytree(whole_run, tmp_path_factory.mktemp("served") / "run"))
    with served(MatchService(web_settings(run_dir), made_up_judge)) as server:
        yield server


@pytest.fixture(scope="package")
def tab(browser: Browser, server: Server) -> Page:
    """A page of the server, kept open: a new one costs several times as much as a visit. Nothing is stored in it."""
    context = browser.new_context(base_url=server.address, reduced_motion="reduce", has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    return context.new_page()


@pytest.fixture
def options() -> dict[str, Any]:
    """The size and the colour scheme of the window, which a test may override."""
    return {}


def is_fault(message: ConsoleMessage) -> bool:
    """Whether the page itself failed. Responses with an error status do not count: the page shows their message."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")


@pytest.fixture
def page(tab: Page, options: dict[str, Any]) -> Iterator[Page]:
    """A page that must not log errors, as browsers do where it would send a request to another server."""
    tab.set_viewport_size(options.get("viewport", {"width": 1180, "height": 900}))
    tab.emulate_media(color_scheme=options.get("color_scheme", "light"))
    faults: list[str] = []

    listeners = {
        "pageerror": lambda error: faults.append(str(error)),
        "console": lambda message: faults.append(message.text) if is_fault(message) else None,
    }
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield tab
    tab.unroute_all(behavior="ignoreErrors")
    tab.goto("about:blank")
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    assert faults == []
