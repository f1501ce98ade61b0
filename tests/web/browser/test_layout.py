"""The page in windows of all sizes: the board fits, and its texts can be read."""

import re
from itertools import combinations, product
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import analyse, contrasts, in_windows, play_out, settled, visit

pytestmark = pytest.mark.slow

DESKTOP = [(1400, 900), (1280, 720)]
WINDOWS = [*DESKTOP, (390, 844), (320, 640), (640, 360)]
GAMES = {
    "tictactoe": "1,1 0,0",
    "connect_four": "4 4",
    "othello": "f5 d6",
    "hex": "d4 c5",
    "hex_3x3": "b2",
    "breakthrough": "c2c3 b4b3",
    "sumto100": "5 3",
    "go_3x3": "B2 A1",
}
"""Games with the first moves of a match."""

PARTS = "#board, #bar:not([hidden]), .seat, #controls, #review, .panel"
BOXES = """(selector) => [...document.querySelectorAll(selector)].map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [node.id || node.className, x + scrollX, y + scrollY, width, height];
})"""


def sizes(windows: list[tuple[int, int]]) -> pytest.MarkDecorator:
    """The test in windows of these sizes."""
    return pytest.mark.parametrize("options", [{"viewport": {"width": w, "height": h}} for w, h in windows], ids=str)


def overlaps(boxes: list[tuple[str, float, float, float, float]]) -> list[tuple[str, str]]:
    """The pairs of boxes that have more than a pixel in common."""
    found = []
    for (one, x, y, width, height), (other, left, top, across, down) in combinations(boxes, 2):
        common = min(x + width, left + across) - max(x, left), min(y + height, top + down) - max(y, top)
        if min(common) > 1:
            found.append((one, other))
    return found


def test_the_parts_of_every_game_have_their_places_in_both_faces(page: Page) -> None:
    for (game, moves), shown in product(GAMES.items(), ("", "&analyse=1")):
        visit(page, f"/#play/{game}?opponent=random&person=both&moves={moves.replace(' ', '+')}{shown}")
        for width, height in in_windows(page, WINDOWS):
            where = f"{game}{shown} {width}x{height}"
            assert overlaps(page.evaluate(BOXES, PARTS)) == [], where
            assert page.evaluate("document.documentElement.scrollWidth") <= width, where
            box = page.locator("#board").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, where
            if (width, height) in DESKTOP:
                # All of the page is visible at once, and the board takes most of the height, or the width beside the
                # panel.
                assert page.evaluate("document.documentElement.scrollHeight") <= height, where
                assert bottom(page, ".seat >> nth=1") <= height, where
                panel = page.locator(".panel").bounding_box()
                assert panel is not None
                is_high = box["height"] >= 0.7 * height
                is_wide = box["x"] <= 60 and panel["x"] - box["x"] - box["width"] <= 30
                assert is_high or is_wide or game == "sumto100", where


@sizes([(390, 844)])
def test_squares_of_a_large_board_fit_a_finger_and_the_last_move_is_scrolled_into_view(
    page: Page, options: dict[str, Any]
) -> None:
    for moves, square in ("a1+k11", 120), ("k11+a1", 0):
        visit(page, f"/#play/hex_11x11?opponent=random&person=both&moves={moves}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        box = page.locator(f"#board [data-square='{square}']").bounding_box()
        assert box is not None
        assert box["width"] >= 32
        assert 0 <= box["x"] <= 390 - box["width"]


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + box["height"]


@sizes([(1280, 720)])
def test_values_curve_and_moves_are_visible_together(page: Page) -> None:
    visit(page, "/#play/othello?opponent=random&person=first&moves=f5d6c3d3c4f4&analyse=1")
    # The list is drawn anew with each value.
    expect(page.locator("#plies .worth")).to_have_count(6)
    expect(page.locator("#discs-lost")).to_be_visible()
    for name in ("#best", "#curve", "#discs-lost", "#review", "#hint"):
        assert bottom(page, name) <= 720
    # The last of the moves is in sight.
    last = page.locator("#plies .move").last.bounding_box()
    assert last is not None
    assert last["y"] + 12 <= bottom(page, ".panel")


@sizes([(390, 844)])
def test_on_a_phone_the_buttons_follow_the_board_and_fit_a_finger(page: Page) -> None:
    visit(page, "/#play/connect_four?opponent=random&person=first&moves=44")
    nodes = ".controls button:visible, #strengths span, nav a, select:visible, .tabs button, .move:visible"
    found = page.locator(nodes).evaluate_all(
        "(nodes) => nodes.map((node) => node.getBoundingClientRect()).map(({ width, height }) => [width, height])"
    )
    assert len(found) > 10
    assert min(min(size) for size in found) >= 44
    tops = [
        bottom(page, name) for name in ("#board", "#status", "#new", "#review", "#tab-play", "#strengths", "#plies")
    ]
    assert tops == sorted(tops)
    assert bottom(page, "#new") <= 844
    analyse(page)
    assert bottom(page, "#review") <= 844


@sizes([(1000, 800)])
def test_five_buttons_fit_beside_the_board_in_a_window_that_is_just_wide_enough(page: Page) -> None:
    visit(page, "/#play/hex_3x3?opponent=random&person=both&moves=b2")
    expect(page.locator("#draw")).to_be_visible()
    panel, draw = page.locator(".panel").bounding_box(), page.locator("#draw").bounding_box()
    assert panel is not None
    assert draw is not None
    assert draw["x"] + draw["width"] <= panel["x"] + panel["width"]
    for button in page.locator("#controls button:visible").all():
        assert button.evaluate("(node) => node.scrollWidth <= node.clientWidth")


@sizes([(320, 640)])
def test_the_score_stands_in_one_line_beside_the_opponent_on_a_narrow_screen(page: Page) -> None:
    visit(page)
    page.locator("#score").evaluate("(node) => { node.textContent = 'You 10 : 12 Medium, 3 drawn'; }")
    score, name = (page.locator(one).bounding_box() for one in ("#score", "#above"))
    assert score is not None
    assert name is not None
    assert name["x"] + name["width"] <= score["x"]
    assert score["height"] < 30
    assert score["x"] + score["width"] <= 320


PLACES = "#board .board, #board .numbers, .seat, #controls, #review, #tab-play"


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
          const across = buttons.map((node) => node.scrollWidth - node.clientWidth);
          const down = [status, ...buttons].map((node) => node.scrollHeight - node.clientHeight);
          return Math.max(...across, ...down);
        }"""
    )
    return hidden


def watch_the_places(page: Page, selector: str = PLACES) -> None:
    """Note in every frame from now on whether one of the parts is elsewhere."""
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


@sizes([(1280, 720), (390, 844)])
@pytest.mark.parametrize(
    "address",
    [
        "connect_four?opponent=search-4&person=first&moves=44",
        "connect_four?opponent=random&person=first&moves=44&analyse=1",
        "othello?opponent=random&person=first&moves=f5d6",
        "othello_4x4?opponent=search-4&person=first&values=adviser",
        "breakthrough?opponent=random&person=first&moves=c2c3+c4d3",
        "hex_3x3?opponent=perfect&person=first",
        "tictactoe?opponent=level-3&person=first",
        "sumto100?opponent=perfect&person=first",
    ],
)
def test_nothing_moves_or_is_cut_off_when_values_hints_and_replies_appear(
    page: Page, address: str, options: dict[str, Any]
) -> None:
    visit(page, f"/#play/{address}")
    before = places(page)
    assert len(before) >= 5
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_have_text(re.compile("would play|Perfect play"))
    page.wait_for_timeout(200)
    assert (places(page), cut_off(page) <= 1) == (before, True)
    # At every frame while the opponent replies.
    watch_the_places(page)
    hinted = page.locator(".hinted")
    if hinted.count() == 2:
        page.locator("#board .hinted .sign.seat0").click()
        page.locator("#board .hinted:not(:has(.sign.seat0))").click()
    else:
        hinted.click()
    settled(page)
    assert not page.evaluate("window.hasMoved")
    assert places(page) == before


@sizes([(1280, 720), (390, 844), (320, 640), (640, 360)])
def test_nothing_moves_when_values_come_and_go_and_when_a_match_ends(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/connect_four?opponent=random&person=first&moves=61316&analyse=1")
    watch_the_places(page)
    for values in ("None", "Best known", "Estimates", "Best known"):
        page.get_by_text(values, exact=True).click()
        settled(page)
    expect(page.locator("#board .value").first).to_be_visible()
    assert not page.evaluate("window.hasMoved")
    page.goto("about:blank")
    visit(page, "/#play/tictactoe?opponent=level-3&person=first")
    watch_the_places(page)
    play_out(page)
    # The sentence about the match, and other buttons.
    expect(page.locator("#status")).to_have_text(re.compile(r"^(You (win|lose)|A draw)\. (\d|No )"))
    expect(page.locator("#controls button:visible")).to_have_text(
        ["New match", "Undo", "Rematch", "Learn from mistakes"]
    )
    assert (page.evaluate("window.hasMoved"), cut_off(page) <= 1) == (False, True)


@sizes([(1280, 720), (390, 844)])
def test_a_solution_moves_neither_the_board_nor_the_buttons(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1&analyse=1")
    before = places(page)
    page.get_by_role("button", name="Learn from mistakes").click()
    expect(page.locator("#status")).to_contain_text("Mistake 1")
    assert places(page) == before
    before = places(page, f"{PLACES}, #solution")
    page.get_by_role("button", name="Solution").click()
    expect(page.locator("#board .value")).not_to_have_count(0)
    page.get_by_role("button", name="One move forward").click()
    expect(page.locator("#status")).to_contain_text("Best line, move 1")
    # A click may have scrolled the page, so places on the screen are not compared.
    assert places(page, f"{PLACES}, #solution") == before


@sizes([(320, 640), (1280, 720)])
def test_numbers_that_do_not_fit_into_small_squares_are_left_out(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/hex?opponent=random&person=first&analyse=1")
    values = page.locator("#board .value")
    expect(values).not_to_have_count(0)
    width = options["viewport"]["width"]
    assert values.first.evaluate("(node) => getComputedStyle(node, '::after').content") == "none"
    assert values.first.evaluate("(node) => getComputedStyle(node).fontSize === '0px'") == (width == 320)


CHIPS = (
    ".value, .count, .choice input:checked + span, .primary, nav a, .move, .mark, .better, .worth, .tabs button, .live"
)


@pytest.mark.parametrize("options", [{"color_scheme": scheme} for scheme in ("light", "dark")])
def test_chips_and_pills_can_be_read(page: Page, options: dict[str, Any]) -> None:
    for address in (
        "/#play/connect_four?opponent=search-4&person=first&moves=44&analyse=1",
        "/#play/othello?opponent=random&person=first&moves=f5d6&analyse=1",
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


PIECES = """async () => {
  const games = await (await fetch("api/games")).json();
  const { stoneOf } = await import("/page/pieces.js");
  const board = document.querySelector("#board");
  return games.map((game) => {
    const looks = [0, 1].map((seat) => {
      const piece = stoneOf(game, seat, { isNew: false, isTurned: false, isGhost: false });
      board.append(piece);
      const { backgroundImage, stroke } = getComputedStyle(piece);
      piece.remove();
      return `${backgroundImage} ${stroke}`;
    });
    return [game.name, ...looks];
  });
}"""


@pytest.mark.parametrize(("game", "edged"), [("go_3x3", ".action"), ("tictactoe", ".cell")])
def test_with_a_contrast_theme_squares_and_passes_have_edges_as_other_buttons_have(
    game: str, edged: str, page: Page
) -> None:
    page.emulate_media(forced_colors="active")
    visit(page, f"/#play/{game}?opponent=random&person=both")
    colour = "(node) => getComputedStyle(node).borderTopColor"
    assert page.locator(f"#board {edged}").first.evaluate(colour) == page.locator("#hint").evaluate(colour)
    # The bar beside the player to move.
    bars = page.locator(".seat").evaluate_all("(nodes) => nodes.map((node) => getComputedStyle(node).borderLeftStyle)")
    assert bars == ["none", "solid"]
    page.emulate_media(forced_colors="none")


@sizes([(640, 400)])
def test_the_pass_of_go_has_room_at_a_zoom_of_200_percent(page: Page) -> None:
    visit(page, "/#play/go_7x7?opponent=random&person=both")
    fits = page.get_by_role("button", name="pass").evaluate(
        """(node) => {
          const [inside, around] = [node.querySelector("b"), node].map((one) => one.getBoundingClientRect());
          return inside.left > around.left && inside.right < around.right && around.bottom < innerHeight;
        }"""
    )
    assert fits


def test_with_a_contrast_theme_stones_and_what_is_chosen_are_visible(page: Page) -> None:
    page.emulate_media(forced_colors="active")
    visit(page)
    looks = page.evaluate(PIECES)
    assert len(looks) > 5
    for game, first, second in looks:
        assert first != second, game
    colour = "(node) => getComputedStyle(node).backgroundColor"
    chosen = page.locator("input[name=person][value=first] + span")
    other = page.locator("input[name=person][value=second] + span")
    assert chosen.evaluate(colour) != other.evaluate(colour)
    page.emulate_media(forced_colors="none")


def test_the_name_of_the_shown_page_can_be_read_below_the_pointer(page: Page) -> None:
    visit(page)
    link = page.locator("nav a[aria-current=page]")
    colours = "(node) => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color]"
    before = link.evaluate(colours)
    link.hover()
    assert link.evaluate(colours) == before
