"""The page in windows of all sizes: the board fits, and its texts can be read."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import contrasts, settled, visit

pytestmark = pytest.mark.slow

SIZES = [(375, 740), (667, 375), (1200, 1400), (2560, 1440)]
GAMES = ["othello", "connect_four", "tictactoe"]


@pytest.mark.parametrize(
    "options", [{"viewport": {"width": width, "height": height}} for width, height in SIZES], ids=str
)
def test_the_board_fits_the_window_in_width_and_height(page: Page, options: dict[str, Any]) -> None:
    window = options["viewport"]
    for game in GAMES:
        visit(page, f"/#play/{game}?opponent=random&person=first")
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"], game
        box = page.locator("#board").bounding_box()
        assert box is not None
        assert box["height"] <= window["height"], game
        assert box["y"] + box["height"] <= window["height"] or window["height"] < 700, game
        settings = page.locator("#strengths").bounding_box()
        assert settings is not None
        assert box["x"] + box["width"] <= settings["x"] or box["y"] + box["height"] <= settings["y"], game


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + box["height"]


@pytest.mark.parametrize("options", [{"viewport": {"width": 1280, "height": 800}}])
def test_on_a_laptop_board_curve_and_moves_are_visible_together_and_the_board_keeps_its_place(page: Page) -> None:
    visit(page, "/#play/othello?opponent=greedy&person=first&moves=f5d6c3d3c4f4")
    page.locator("#plies-box").evaluate("(node) => { node.open = true; }")
    expect(page.locator("#plies tbody tr").first).to_be_visible()
    assert max(bottom(page, name) for name in ("#board", "#curve", "#plies-box", "#review")) <= 800
    boxes = [page.locator(name).bounding_box() for name in ("#board", ".course", "aside")]
    places = [(box["x"], box["x"] + box["width"]) for box in boxes if box is not None]
    assert places[0][1] <= places[1][0] < places[1][1] <= places[2][0] < places[2][1] <= 1280
    top = bottom(page, "#board")
    for text in ("", "Your turn.", "Most discs now can only pass. " * 12):
        page.locator("#status").evaluate("(node, text) => { node.textContent = text; }", text)
        page.locator("#score").evaluate("(node) => { node.textContent = 'You 1 : 0 Level 3'; }")
        assert bottom(page, "#board") == top


@pytest.mark.parametrize("options", [{"viewport": {"width": 390, "height": 844}}])
def test_on_a_phone_buttons_fit_a_finger_and_the_opponent_follows_the_board(page: Page) -> None:
    visit(page, "/#play/connect_four?opponent=random&person=first&moves=44")
    sizes = page.locator(".controls button:visible, #strengths span, nav a, select:visible").evaluate_all(
        "(nodes) => nodes.map((node) => node.getBoundingClientRect()).map(({ width, height }) => [width, height])"
    )
    assert len(sizes) > 10
    assert min(min(size) for size in sizes) >= 44
    assert bottom(page, "#review") < bottom(page, "#strengths") < 844 + 44 < bottom(page, ".course")


CHIPS = ".value, .side, .choice input:checked + span, .primary, nav a, .move, .proof, .live"


@pytest.mark.parametrize("options", [{"color_scheme": scheme} for scheme in ("light", "dark")])
def test_chips_and_pills_can_be_read(page: Page, options: dict[str, Any]) -> None:
    for address in (
        "/#play/connect_four?opponent=search-4&person=first&moves=44",
        "/#play/othello?opponent=greedy&person=first&moves=f5d6",
    ):
        page.goto("about:blank")
        visit(page, address)
        settled(page, 2)
        expect(page.locator(".value").first).to_be_visible()
        page.locator("#story-state").evaluate("(node) => node.innerHTML = '<span class=\"live\">live</span>'")
        page.locator("#play").evaluate("(node) => node.prepend(document.querySelector('.live'))")
        found = contrasts(page, CHIPS)
        assert len(found) > 10
        assert min(found) >= 4.5, address
