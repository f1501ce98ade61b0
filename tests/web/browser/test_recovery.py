"""Errors between the page and the server, in a real browser: the page recovers."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.browser.browsing import forget_matches, settled, slide, visit
from tests.web.conftest import Server

pytestmark = pytest.mark.slow


# ---------------------------------------------------------------------- expired matches


def test_an_expired_match_is_brought_back_and_continued(page: Page, server: Server) -> None:
    visit(page)
    for square, count in (("0", 2), ("last", 4)):
        forget_matches(server)
        (page.locator("[data-square='0']") if square == "0" else page.locator("#board .legal").last).click()
        settled(page, count)
        expect(page.locator("#error")).to_be_hidden()
        expect(page.locator("#status")).to_contain_text("Level 3 plays")
    expect(page.get_by_role("gridcell", name="0,0, X")).to_have_count(1)
    forget_matches(server)
    page.get_by_role("button", name="Undo").click()
    settled(page, 2)
    # The server is stopped, and started again after the click: the page asks until it answers, and plays the move.
    page.route("**/api/**", lambda route: route.abort())
    page.locator("#board .legal").last.click()
    expect(page.locator("#status")).to_have_text("Waiting for the server…")
    forget_matches(server)
    page.unroute("**/api/**")
    settled(page, 4)
    expect(page.locator("#error")).to_be_hidden()


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


def expect_no_match(page: Page, why: str) -> None:
    expect(page.locator("#error")).to_contain_text(why)
    expect(page.locator("#status")).to_have_text("No match is open. Choose another opponent, or press New match.")
    settled(page)


def test_another_opponent_is_chosen_when_the_first_cannot_play(page: Page, broken_level: Path) -> None:
    visit(page)
    expect_no_match(page, broken_level.name)
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


@pytest.mark.parametrize("what", ["actions", "next"])
def test_after_a_lost_answer_the_match_is_requested_again(page: Page, what: str) -> None:
    visit(page)
    page.route(f"**/{what}", lose_answer, times=1)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    expect(page.locator("#status")).to_contain_text("Level 3 plays")
    expect(page.locator("#error")).to_be_hidden()
    for name in ("Undo", "New match"):
        page.get_by_role("button", name=name).click()
        settled(page, 0)
        expect(page.locator("#status")).to_have_text("Your turn: you are X.")
        expect(page.locator("#error")).to_be_hidden()
