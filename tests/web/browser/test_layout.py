"""The page in windows of all sizes: the board fits, and its texts can be read."""

import re
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


WINDOWS = [(1400, 900), (1280, 720), (390, 844), (640, 360)]
PLACES = "#board .board, #board .numbers, #new, #undo, #hint, #back, #strengths"


def places(page: Page, selector: str = PLACES) -> dict[str, tuple[float, float]]:
    """Where the parts that one looks at or clicks are."""
    found: dict[str, tuple[float, float]] = page.evaluate(
        """(selector) => Object.fromEntries([...document.querySelectorAll(selector)].map((node) => {
          const { x, y } = node.getBoundingClientRect();
          return [node.id || node.className.split(" ")[0], [x + scrollX, y + scrollY]];
        }))""",
        selector,
    )
    return found


def cut_off(page: Page) -> float:
    """The pixels of the status that are not visible, and of the buttons that have too little room for their text."""
    hidden: float = page.evaluate(
        """() => {
          const status = document.querySelector("#status");
          const buttons = [...document.querySelectorAll(".controls button")];
          const over = buttons.map((node) => node.scrollWidth - node.clientWidth);
          return Math.max(status.scrollHeight - status.clientHeight, ...over);
        }"""
    )
    return hidden


@pytest.mark.parametrize("options", [{"viewport": {"width": w, "height": h}} for w, h in WINDOWS], ids=str)
@pytest.mark.parametrize(
    "address",
    [
        "connect_four?opponent=search-4&person=first&moves=44",
        "connect_four?opponent=random&person=first&moves=44&values=perfect",
        "othello?opponent=pretrained-search&person=first&moves=f5d6",
        "othello_4x4?opponent=search-4&person=first",
        "breakthrough?opponent=search-4&person=first&moves=c2c3+c4d3",
        "hex_3x3?opponent=search-4&person=first",
        "tictactoe?opponent=level-3&person=first",
        "sumto100?opponent=perfect&person=first",
    ],
)
def test_nothing_moves_or_is_cut_off_when_values_hints_and_replies_appear(
    page: Page, address: str, options: dict[str, Any]
) -> None:
    visit(page, f"/#play/{address}")
    # On a low window, the status stands below the buttons and above the settings.
    selector = PLACES if options["viewport"]["height"] > 400 else PLACES.replace(", #strengths", "")
    before = places(page, selector)
    assert len(before) >= 5
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_have_text(re.compile("would play|Perfect play"))
    page.wait_for_timeout(200)
    assert (places(page, selector), cut_off(page) <= 1) == (before, True)
    # At every frame while the opponent replies.
    page.evaluate(
        """(selector) => {
          const top = (node) => node.getBoundingClientRect().top + scrollY;
          const tops = () => [...document.querySelectorAll(selector)].map(top);
          const first = String(tops());
          const look = () => { if (String(tops()) !== first) window.hasMoved = true; requestAnimationFrame(look); };
          window.hasMoved = false;
          look();
        }""",
        selector,
    )
    hinted = page.locator(".hinted")
    if hinted.count() == 2:
        page.locator("#board .hinted .sign.seat0").click()
        page.locator("#board .hinted:not(:has(.sign.seat0))").click()
    else:
        hinted.click()
    settled(page)
    assert not page.evaluate("window.hasMoved")
    assert places(page, selector) == before


@pytest.mark.parametrize(
    "options", [{"viewport": {"width": w, "height": h}} for w, h in ((1280, 720), (390, 844))], ids=str
)
def test_a_solution_moves_neither_the_board_nor_the_buttons(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1")
    board = places(page)["board"]
    page.get_by_role("button", name="Learn from mistakes").click()
    expect(page.locator("#status")).to_contain_text("Mistake 1")
    button = page.locator("#solution").bounding_box()
    page.get_by_role("button", name="Solution").click()
    expect(page.locator("#board .value")).not_to_have_count(0)
    assert (places(page)["board"], page.locator("#solution").bounding_box()) == (board, button)


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
