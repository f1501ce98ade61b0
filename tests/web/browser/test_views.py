"""How the page looks in a real browser: narrow screens, dark and light, and the story of the run."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from selfplay.runs.run_folder import RunFolder
from tests.web.browser.browsing import settled, visit
from tests.web.conftest import Server

pytestmark = pytest.mark.slow

OPPONENT = {"id": "random", "kind": "random", "number": None, "neutral": 0.0, "span": 1.0, "is_slow": False}


@pytest.mark.parametrize("options", [{"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"}])
def test_everything_fits_on_a_narrow_dark_screen(page: Page, options: dict[str, Any]) -> None:
    for address in ("/", "/#play/othello", "/#play/sumto100", "/#story/tictactoe", "/docs"):
        page.goto(address)
        if "play" in address or address == "/":
            settled(page)
        else:
            expect(page.locator(".card").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, address
    visit(page)
    square = page.locator("[data-square='8']")
    square.tap()
    settled(page, 2)
    box = square.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 320
    # Dark background, light text.
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}])
def test_long_words_do_not_overflow(page: Page, options: dict[str, Any]) -> None:
    long = "runs/" + 60 * "long_name_"
    offer = {"run": long, "notes": [long], "opponents": [{**OPPONENT, "label": long, "about": long}]}
    page.route("**/opponents", lambda route: route.fulfill(json=offer))
    page.route(
        "**/proof?*", lambda route: route.fulfill(json={"is_unbeatable": None, "unbeatable_seats": None, "text": long})
    )
    page.route("**/api/matches", lambda route: route.fulfill(status=409, json={"error": long}))
    visit(page)
    expect(page.locator("#error")).to_contain_text("Runs/long_name_")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("[...document.querySelectorAll('p, li')].every((one) => one.scrollWidth <= one.clientWidth)")


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}])
def test_a_phone_shows_the_name_of_the_game_and_readable_values(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/connect_four")
    needed = "(node) => { const free = node.cloneNode(true); free.style.maxWidth = 'none'; node.after(free);"
    needed += (
        " free.value = node.value; const width = free.offsetWidth; free.remove(); return width - node.offsetWidth; }"
    )
    assert page.locator("#game").evaluate(needed) <= 0
    visit(page, "/#play/othello")
    size = "(node) => parseFloat(getComputedStyle(node, node.dataset.short ? '::after' : null).fontSize)"
    values = page.locator("#board .value")
    expect(values).to_have_count(4)
    assert all(value.evaluate(size) >= 12 for value in values.all())
    assert values.evaluate_all("(nodes) => nodes.every((node) => node.scrollWidth <= node.clientWidth)")


def test_the_story_has_charts_with_their_data_as_tables(page: Page) -> None:
    page.goto("/#story/tictactoe")
    expect(page.locator("#charts figure")).to_have_count(7)
    expect(page.locator("#charts figure").first).to_contain_text("seed=0")
    expect(page.locator("#losses .line")).to_have_count(3)
    expect(page.locator("#exact .bar")).to_have_count(12)
    expect(page.locator("#certain tbody tr")).to_have_count(4)
    page.locator("#wins summary").click()
    expect(page.locator("#wins tbody tr")).to_have_count(3)
    page.get_by_label("Game").select_option("sumto100")
    expect(page.locator("#story-notes")).to_contain_text("has no trained level yet")
    page.get_by_role("link", name="Play").click()
    settled(page)
    expect(page.get_by_role("heading", name="SumTo100")).to_be_visible()


def test_the_story_is_updated_during_a_run(page: Page, server: Server) -> None:
    run = server.service.catalog.run(server.service.catalog.game("tictactoe"))
    page.goto("/#story/tictactoe")
    expect(page.locator("#story-state")).to_contain_text("3 levels")
    new = run.level(4)
    try:
        with RunFolder(run.path).lock():
            shutil.copytree(run.level(3), new)
            expect(page.locator("#story-state")).to_contain_text("4 levels")
            expect(page.locator("#losses .line")).to_have_count(4)
            if Path("/proc/locks").exists():
                expect(page.locator(".live")).to_be_visible()
    finally:
        shutil.rmtree(new, ignore_errors=True)
    expect(page.locator("#story-state")).to_contain_text("3 levels")


def test_the_story_of_a_large_game_shows_its_mistakes_and_its_matches(page: Page, server: Server) -> None:
    row = {"positions": 100, "perfect_rate": 0.5, "points_lost": 1.5}
    mistakes = [
        {**row, "level": level, "player": f"level:{level}", "group": group, "mistake_rate": 0.5 / level}
        for level in (1, 2)
        for group in ("begin-hard", "all")
    ]
    matches = [{"level": 2, "opponent": "random", "results": {"wins": 9, "draws": 1, "losses": 0}}]

    def changed(route: Route) -> None:
        story = route.fetch().json()
        story["summary"] |= {"report": "Level 2 is measured.", "wanted_levels": 15, "seconds_left": 240}
        route.fulfill(json={**story, "mistakes": mistakes, "matches": matches, "is_running": True})

    page.route("**/story", changed)
    page.goto("/#story/tictactoe")
    expect(page.locator("#summary")).to_contain_text("Level 2 is measured.")
    expect(page.locator("#story-state")).to_contain_text("Level 3 of 15, about 4 minutes left")
    expect(page.locator("#mistakes .line")).to_have_count(2)
    page.locator("#mistakes summary").click()
    expect(page.locator("#mistakes tbody tr")).to_have_count(1)
    expect(page.locator("#mistakes tbody tr")).to_contain_text("25.0 %")
    expect(page.locator("#matches tbody tr")).to_contain_text("90.0 %")
