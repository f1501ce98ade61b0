"""The page in windows of all sizes: the board fits, and its texts can be read."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import settled, visit

pytestmark = pytest.mark.slow

SIZES = [(375, 740), (667, 375), (820, 600), (820, 1180), (640, 360), (1280, 800), (2560, 1440)]
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


@pytest.mark.parametrize("options", [{"viewport": {"width": 2560, "height": 1440}}])
def test_on_a_large_screen_the_board_is_large_and_the_curve_beside_it(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/othello?opponent=random&person=first")
    board, course, side = (page.locator(name).bounding_box() for name in ("#board", ".course", "aside"))
    assert board
    assert course
    assert side
    assert board["height"] > 1000
    assert board["x"] + board["width"] <= course["x"] < course["x"] + course["width"] <= side["x"]
    expect(page.locator("#plies-box")).to_have_attribute("open", "")


CONTRASTS = """(selector) => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    const colour = rgba(getComputedStyle(node).backgroundColor);
    return colour[3] > 200 ? colour : behind(node.parentElement);
  };
  return [...document.querySelectorAll(selector)].map((node) => {
    const [one, other] = [light(rgba(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  });
}"""

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
        contrasts = page.evaluate(CONTRASTS, CHIPS)
        assert len(contrasts) > 10
        assert min(contrasts) >= 4.5, address
