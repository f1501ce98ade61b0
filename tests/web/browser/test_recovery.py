"""Errors between the page and the server, in a real browser: the page recovers."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from selfplay.web.app import create_app
from selfplay.web.match_service import MatchService
from tests.web.browser.browsing import expect_result, play_out, plies, settled, slide, visit
from tests.web.conftest import Server, client_of

pytestmark = pytest.mark.slow


# ---------------------------------------------------------------------- a server that does not answer


def test_the_page_asks_until_the_server_answers_again(page: Page) -> None:
    visit(page)
    for what in ("[data-square='0']", "#board .legal"):
        before = plies(page)
        page.route("**/api/**", lambda route: route.abort())
        page.locator(what).last.click()
        expect(page.locator("#status")).to_have_text("Waiting for the server…")
        expect(page.locator("#error")).to_contain_text("The server does not answer")
        page.unroute("**/api/**")
        settled(page, before + 2)
        expect(page.locator("#error")).to_be_hidden()
        expect(page.locator("#status")).to_contain_text("Level 3 plays")
    expect(page.get_by_role("gridcell", name="0,0, X")).to_have_count(1)


def test_a_match_goes_on_with_any_server(page: Page, server: Server) -> None:
    """A server that was started again, or another worker, answers as the first one would."""
    visit(page)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    other = client_of(create_app(MatchService(server.service.settings)))

    def answer(route: Route) -> None:
        response = other.post("/api/match", json=route.request.post_data_json)
        route.fulfill(status=response.status_code, json=response.json())

    page.route("**/api/match", answer)
    play_out(page)
    expect_result(page)
    expect(page.locator("#plies .move")).to_have_count(plies(page))


# ---------------------------------------------------------------------- matches that cannot begin


@pytest.fixture
def broken_level(server: Server) -> Iterator[Path]:
    """The file of the newest level, made unreadable."""
    file = server.service.catalog.run(server.service.catalog.game("tictactoe")).agent(3)
    kept = file.with_suffix(".kept")
    shutil.copy2(file, kept)
    file.write_bytes(b"no network")
    yield file
    if kept.exists():
        kept.replace(file)


def test_another_opponent_is_chosen_when_the_first_cannot_play(page: Page, broken_level: Path) -> None:
    visit(page)
    expect(page.locator("#error")).to_contain_text(broken_level.name)
    expect(page.locator("#status")).to_have_text("This opponent cannot play. Choose another one.")
    slide(page, 0)
    settled(page, 0)
    expect(page.locator("#error")).to_be_hidden()
    page.locator("[data-square='0']").click()
    settled(page, 2)
    expect(page.locator("#status")).to_contain_text("Level 1 plays")


# ---------------------------------------------------------------------- answers that are lost


def lose_answer(route: Route) -> None:
    """The server handles the request, but its answer is lost."""
    route.fetch()
    route.abort()


def test_after_a_lost_answer_the_match_is_requested_again(page: Page) -> None:
    visit(page)
    page.route("**/api/match", lose_answer, times=1)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    expect(page.locator("#status")).to_contain_text("Level 3 plays")
    expect(page.locator("#error")).to_be_hidden()
    for name in ("Undo", "New match"):
        page.route("**/api/match", lose_answer, times=1)
        page.get_by_role("button", name=name).click()
        settled(page, 0)
        expect(page.locator("#status")).to_have_text("Your turn: you are X.")
        expect(page.locator("#error")).to_be_hidden()
