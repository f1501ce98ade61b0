"""The page in windows of all sizes: the board fits, and its texts can be read."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import contrasts, settled, visit

pytestmark = pytest.mark.slow

SIZES = [(375, 740), (667, 375), (2560, 1440)]
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
