"""The board in a real browser: hexagons, boards that are turned, arrows, ghosts, and the evaluation bar."""

import re
from itertools import pairwise
from math import dist
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import in_windows, settled, visit

pytestmark = pytest.mark.slow

Point = tuple[float, float]

WINDOWS = [(1400, 900), (390, 844), (320, 640)]


def middle(page: Page, square: int) -> Point:
    box = page.locator(f"#board [data-square='{square}']").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def width_of_square(page: Page) -> float:
    box = page.locator("#board [data-square='0']").bounding_box()
    assert box is not None
    return box["width"]


def hint(page: Page) -> None:
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#board .marks > *")).not_to_have_count(0)


def corners(page: Page, selector: str) -> list[Point]:
    """The corners of a path on the screen."""
    found = page.locator(selector).evaluate(
        """(node) => {
          const numbers = node.getAttribute("d").match(/-?[\\d.]+/g).map(Number);
          const points = numbers.flatMap((x, i) => (i % 2 ? [] : [new DOMPoint(x, numbers[i + 1])]));
          return points.map((one) => one.matrixTransform(node.getScreenCTM())).map(({ x, y }) => [x, y]);
        }"""
    )
    return [(x, y) for x, y in found]


# ---------------------------------------------------------------------- crossings

GO = "/#play/go_3x3?opponent=random&person=both&moves=B2+A2+B1+A1+B3+C3+A3"


def test_stones_stand_on_the_crossings_of_lines(page: Page) -> None:
    visit(page, GO)
    for _ in in_windows(page, WINDOWS):
        ends = corners(page, "#board .ground .lines")
        rows = [[middle(page, 3 * row), middle(page, 3 * row + 2)] for row in range(3)]
        columns = [[middle(page, column), middle(page, 6 + column)] for column in range(3)]
        for found, expected in zip(ends, (point for line in [*rows, *columns] for point in line), strict=True):
            assert dist(found, expected) < 1
        star = page.locator("#board .ground circle").bounding_box()
        assert star is not None
        assert dist((star["x"] + star["width"] / 2, star["y"] + star["height"] / 2), middle(page, 4)) < 1


def test_captured_stones_territory_and_points_are_shown_in_go_and_p_passes(page: Page) -> None:
    visit(page, GO)
    expect(page.locator("#below .captured")).to_have_text("2 captured")
    expect(page.locator("#above .captured")).to_have_count(0)
    expect(page.locator("#board .territory")).to_have_count(0)
    # A pass that can end the match says how it would end, and has to be chosen twice.
    for plies, warning in (7, "If the other player passes too, the board"), (8, "After this pass the board"):
        page.keyboard.press("p")
        expect(page.locator("#status")).to_contain_text(f"{warning} is counted. With all stones alive: White wins. ")
        settled(page, plies)
        page.keyboard.press("p")
        settled(page, plies + 1)
    page.get_by_role("button", name="Agree").click()
    expect(page.locator("#status")).to_have_text(re.compile(r"^Black wins\. Points: black 9"))
    expect(page.locator("#board .territory.black")).to_have_count(5)
    expect(page.locator("#board [data-square='6']")).to_have_accessible_name("A1, empty, territory of black")


@pytest.mark.parametrize(
    ("address", "squares", "sentence"),
    [
        (
            "go_3x3?moves=C1+A1+C3+B1+B2+C2",
            [8],
            "C1 is not legal. That would repeat the position (ko): play elsewhere first.",
        ),
        ("go_3x3?moves=A2+C3+B1", [6], "A1 is not legal. Your chain would have no liberty there (suicide)."),
        ("go_3x3?moves=C1+A1", [8], "C1 is occupied."),
        (
            "othello_4x4?moves=",
            [0],
            "a1 is not legal. A disc has to enclose and turn at least one of the other colour.",
        ),
        ("connect_four?moves=444444", [3], "Column 4 is full."),
        ("breakthrough?person=both", [0], "The stone on a5 is not yours: you play X."),
        ("breakthrough?person=both", [12], "c3 is empty: click one of your stones first."),
        ("breakthrough?person=both", [15, 2], "The stone on a2 cannot move to c5."),
        ("tictactoe?moves=0,0+1,0+0,1+1,1+0,2", [8], "The match is over. X wins."),
        ("tictactoe?opponent=random&person=none", [0], "You watch this match: Step or Run makes the next move."),
        ("tictactoe?moves=0,0+1,0&ply=1", [0], "0,0 is occupied."),
    ],
)
def test_a_click_that_does_nothing_says_why(page: Page, address: str, squares: list[int], sentence: str) -> None:
    visit(page, f"/#play/{address}")
    if "ply=" in address:
        # The earlier position is shown after another request, and what is said of it last.
        expect(page.locator("#status")).to_contain_text("Move 1 of 2")
    for square in squares:
        page.locator(f"#board [data-square='{square}']").click(force=True)
    expect(page.locator("#status")).to_have_text(sentence)


def test_the_only_stone_that_can_move_stays_chosen_whatever_is_clicked(page: Page) -> None:
    visit(page, "/#play/draughts?opponent=random&person=both&moves=11-15+22-18")
    capture = page.locator("#board [aria-selected=true]")
    for square in (35, 0, 21):
        expect(capture).to_have_attribute("data-square", "35")
        page.locator(f"#board [data-square='{square}']").click(force=True)
    settled(page, 3)


def test_the_crossing_of_ko_is_marked_while_it_may_not_be_taken(page: Page) -> None:
    visit(page, "/#play/go_3x3?moves=C1+A1+C3+B1+B2+C2")
    expect(page.locator("#board .ko")).to_have_count(1)
    expect(page.locator("#board .ko")).to_have_accessible_name("C1, empty, ko, may not be taken now")
    expect(page.locator("#above .count")).to_have_text("+9.5")


# ---------------------------------------------------------------------- hexagons

HEX = "/#play/hex_3x3?opponent=random&person=both&values=none"


def test_cells_of_hex_are_regular_hexagons_whose_edges_have_the_colours_of_the_players(page: Page) -> None:
    visit(page, HEX)
    for _ in in_windows(page, WINDOWS):
        width = width_of_square(page)
        middles = [middle(page, cell) for cell in range(9)]
        for near in (1, 2, 3, 5, 6, 7):
            assert dist(middles[4], middles[near]) == pytest.approx(width, rel=0.02)
        # A corner of the cell's box belongs to the neighbour.
        box = page.locator("[data-square='4']").bounding_box()
        assert box is not None
        at = "([x, y]) => document.elementFromPoint(x, y)?.closest('.cell')?.dataset.square"
        assert page.evaluate(at, [box["x"] + 3, box["y"] + 3]) == "1"
        assert page.evaluate(at, [box["x"] + box["width"] - 3, box["y"] + box["height"] - 3]) == "7"
        # The blue edges are at the top and the bottom, the others at the left and the right.
        top, bottom, left, right = (corners(page, f"#board .side-of >> nth={number}") for number in range(4))
        radius = width / 3**0.5
        for cell, (x, y) in zip((0, 1, 2), top[1::3], strict=True):
            assert (x, y) == pytest.approx((middles[cell][0], middles[cell][1] - radius), abs=1.5)
        for cell, (x, y) in zip((6, 7, 8), bottom[1::3], strict=True):
            assert (x, y) == pytest.approx((middles[cell][0], middles[cell][1] + radius), abs=1.5)
        for cells, edge, side in (((0, 3, 6), left, -1), ((2, 5, 8), right, 1)):
            for cell, pair in zip(cells, zip(edge[::2], edge[1::2], strict=True), strict=True):
                assert [x for x, _ in pair] == pytest.approx([middles[cell][0] + side * width / 2] * 2, abs=1.5)
        colours = page.locator("#board .side-of").evaluate_all(
            "(nodes) => nodes.map((one) => getComputedStyle(one).stroke)"
        )
        assert colours[0] == colours[1] != colours[2] == colours[3]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_letters_and_numbers_stand_at_the_rows_and_columns_of_hex(page: Page) -> None:
    visit(page, HEX)
    for _ in in_windows(page, WINDOWS[:2]):
        assert page.locator("#board .edge.top span").all_inner_texts() == ["a", "b", "c"]
        assert page.locator("#board .edge.left span").all_inner_texts() == ["1", "2", "3"]
        boxes = [page.locator("#board .edge span").nth(number).bounding_box() for number in range(6)]
        places = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box is not None]
        for cell, (x, _) in enumerate(places[:3]):
            assert x == pytest.approx(middle(page, cell)[0], abs=2)
        for cell, (x, y) in zip((0, 3, 6), places[3:], strict=True):
            assert y == pytest.approx(middle(page, cell)[1], abs=2)
            assert x < middle(page, cell)[0] - width_of_square(page) / 2


def test_hex_is_played_by_keys_and_the_shortest_winning_chain_is_marked(page: Page) -> None:
    visit(page, f"{HEX}&moves=b2+c1+b1+b3")
    page.locator("[data-square='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("gridcell", name="a3, empty")).to_be_focused()
    page.keyboard.press("Enter")
    settled(page, 5)
    expect(page.locator("#status")).to_contain_text("X wins.")
    won = page.locator("#board .cell.won")
    assert won.evaluate_all("(nodes) => nodes.map((node) => node.dataset.square)") == ["1", "4", "6"]
    expect(page.get_by_role("gridcell", name="b1, X, in the winning line")).to_have_count(1)
    colours = page.locator("#board .won, #board .cell:has(.seat1)").evaluate_all(
        "(nodes) => nodes.map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(colours)) == 2


# ---------------------------------------------------------------------- turned boards


def test_the_board_of_breakthrough_is_turned_for_a_person_who_moves_second(page: Page) -> None:
    visit(page, "/#play/breakthrough?opponent=random&person=second&moves=c2c3")
    assert page.locator("#board .edge.top span").all_inner_texts() == ["e", "d", "c", "b", "a"]
    assert page.locator("#board .edge.left span").all_inner_texts() == ["1", "2", "3", "4", "5"]
    # e1, square 24, is drawn first.
    assert page.locator("#board .cell").first.get_attribute("data-square") == "24"
    for earlier, later in pairwise(range(24, -1, -5)):
        assert middle(page, earlier)[1] < middle(page, later)[1]
    # Arrow keys go as they look: from e1, which is at the upper left, down to e2 and then right to d2.
    page.locator("#board [tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_role("gridcell", name="d2, X")).to_be_focused()
    page.get_by_role("gridcell", name="d4, O").click()
    page.get_by_role("gridcell", name="d3, empty").click()
    settled(page, 3)
    assert "moves=c2c3+d4d3" in page.url
    hint(page)
    start, tip = [
        page.locator("#board .cell.hinted").evaluate_all("(n) => n.map((one) => Number(one.dataset.square))")
    ][0]
    assert min(dist(corners(page, "#board .arrow.hint")[3], middle(page, square)) for square in (start, tip)) < 2


@pytest.mark.parametrize("person", ["first", "both", "none"])
def test_the_board_is_not_turned_for_anybody_else(page: Page, person: str) -> None:
    visit(page, "/#play/breakthrough?opponent=random&person=second&moves=c2c3")
    expect(page.locator("#board .edge.top span").first).to_have_text("e")
    page.goto(f"/#play/breakthrough?opponent=random&person={person}")
    expect(page.locator("#board .edge.top span").first).to_have_text("a")
    assert page.locator("#board .cell").first.get_attribute("data-square") == "0"


def test_other_games_are_not_turned(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=second&moves=1,1")
    assert page.locator("#board .cell").first.get_attribute("data-square") == "0"


# ---------------------------------------------------------------------- arrows, rings and ghosts

RING = """() => {
  const boxOf = (selector) => document.querySelector(`#board ${selector}`).getBoundingClientRect();
  const [ring, square] = [".ring.hint", ".cell.hinted"].map(boxOf);
  const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  return [middle(ring)[0] - middle(square)[0], middle(ring)[1] - middle(square)[1], ring.width, ring.top];
}"""
"""How far the ring is from its square, its width and its upper end."""


@pytest.mark.parametrize(
    "address",
    [
        "connect_four?opponent=random&person=first&moves=44",
        "othello?opponent=random&person=first&moves=f5d6",
        "hex_3x3?opponent=random&person=first&moves=a1+c3",
        "tictactoe?opponent=random&person=first&moves=1,1+0,0",
    ],
)
def test_the_ring_of_a_hint_is_around_its_square_in_every_window(page: Page, address: str) -> None:
    visit(page, f"/#play/{address}")
    hint(page)
    square = page.locator("#board .cell.hinted")
    expect(square).to_have_count(1)
    for _ in in_windows(page, WINDOWS):
        shift_x, shift_y, width, top = page.evaluate(RING)
        assert (shift_x, shift_y) == pytest.approx((0, 0), abs=1)
        assert 0.7 < width / width_of_square(page) < 1
        if address.startswith("connect_four"):
            # The arrow falls down the column to the ring.
            x, y = corners(page, "#board .arrow.hint")[3]
            assert x == pytest.approx(middle(page, int(square.get_attribute("data-square") or ""))[0], abs=1)
            assert top - width_of_square(page) / 5 < y <= top


def test_the_moves_after_a_hint_have_numbers_where_stones_are_placed(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+0,0")
    hint(page)
    expect(page.locator("#board .ring.line")).to_have_count(3)
    expect(page.locator("#board .marks text")).to_have_text(["4", "3", "2"])


def test_the_hint_for_a_move_is_an_arrow_between_its_squares(page: Page) -> None:
    visit(page, "/#play/breakthrough?opponent=random&person=first")
    hint(page)
    expect(page.locator("#board .marks > .hint")).to_have_count(1)
    # The moves after it are fainter.
    expect(page.locator("#board .arrow.line")).to_have_count(3)
    squares = page.locator("#board .cell.hinted").evaluate_all(
        "(nodes) => nodes.map((one) => Number(one.dataset.square))"
    )
    for _ in in_windows(page, WINDOWS):
        # X moves up, to the lower of the two numbers.
        to, origin = middle(page, squares[0]), middle(page, squares[1])
        outline = corners(page, "#board .arrow.hint")
        assert dist(outline[3], to) < 1.5
        begin = ((outline[0][0] + outline[-1][0]) / 2, (outline[0][1] + outline[-1][1]) / 2)
        assert dist(begin, origin) + dist(begin, to) == pytest.approx(dist(origin, to), rel=0.01)
        assert dist(begin, origin) < width_of_square(page) / 2


def test_a_hint_vanishes_with_the_next_move(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+0,0")
    hint(page)
    page.locator("#board .cell.hinted").click()
    settled(page, 4)
    expect(page.locator("#board .marks > *")).to_have_count(0)


def test_an_exercise_shows_the_move_that_was_played_as_a_ghost(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1")
    page.get_by_role("button", name="Learn from mistakes").click()
    expect(page.locator("#status")).to_contain_text("Mistake 1")
    ghost = page.locator("#board .sign.ghost")
    expect(ghost).to_have_count(1)
    expect(ghost).to_have_class("sign seat0 ghost")
    expect(page.get_by_role("gridcell", name="0,1, empty, move of the match")).to_have_count(1)
    page.get_by_role("button", name="Solution").click()
    expect(page.locator("#board .ring.hint")).to_have_count(1)
    # The solution has a ring around a faint stone.
    expect(ghost).to_have_count(2)
    expect(page.locator("#board .hinted .ghost")).to_have_count(1)
    page.get_by_role("button", name="Done").click()
    expect(ghost).to_have_count(0)


@pytest.mark.parametrize("game", ["breakthrough", "draughts"])
def test_the_value_of_a_move_lies_above_the_stone_that_it_moves(page: Page, game: str) -> None:
    visit(page, f"/#play/{game}?opponent=random&person=both&analyse=1")
    values = page.locator("#board :is(.sign, .disc) + .value")
    expect(values).not_to_have_count(0)
    on_top = """(nodes) => nodes.map((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return document.elementsFromPoint((left + right) / 2, (top + bottom) / 2).indexOf(node);
    })"""
    assert set(values.evaluate_all(on_top)) == {0}


SHOWN = """async ({ game, match, ghost }) => {
  const { Board } = await import("/page/board.js");
  const { RESULT_SCALE } = await import("/page/values.js");
  const place = document.createElement("div");
  document.querySelector("#board").replaceChildren(place);
  const all = await (await fetch("api/games")).json();
  const board = new Board(place, all.find(({ name }) => name === game), () => {}, () => {});
  board.show({ match, ghost, known: new Map(), scale: RESULT_SCALE, isOpen: true, isEdited: false, hint: null });
}"""


def test_the_ghost_of_a_move_is_a_faint_stone_and_an_arrow(page: Page) -> None:
    visit(page, "/#play/breakthrough?opponent=random&person=first")
    squares = [-1] * 10 + [0] * 5 + [1] * 10
    # c2c3: from square 17 to square 12.
    legal = [{"action": 12, "text": "c2c3", "square": 12, "pointed": [12, 17]}]
    match = {"squares": squares, "legal": legal, "plies": [], "winning_squares": [], "to_move": 0, "person_seat": 0}
    page.evaluate(SHOWN, {"game": "breakthrough", "match": match, "ghost": 12})
    expect(page.locator("#board [data-square='12'] .sign.seat0.ghost")).to_have_count(1)
    assert dist(corners(page, "#board .arrow.ghost")[3], middle(page, 12)) < 1.5
    expect(page.locator("#board .hinted")).to_have_count(0)


# ---------------------------------------------------------------------- the evaluation bar

SHARES = """async (given) => {
  const { shareOf } = await import("/page/bar.js");
  return given.map(([value, scale]) => shareOf(value, scale));
}"""


def test_the_share_of_the_bar_grows_with_the_value_on_every_scale(page: Page) -> None:
    visit(page)
    exact = [[value, {"kind": kind}] for kind in ("results", "scores") for value in (-1, 0, 1)] + [
        [9, {"kind": "scores"}]
    ]
    assert page.evaluate(SHARES, exact) == [-1, 0, 1, -1, 0, 1, 1]
    points = page.evaluate(SHARES, [[value, {"kind": "points"}] for value in (-64, -6, 0, 2, 6, 64)])
    assert points == sorted(points)
    assert (points[1], points[2], points[4]) == (-0.5, 0, 0.5)
    assert -1 < points[0] < -0.9
    estimates = [
        (-3, 0, 1),
        (-0.5, 0, 1),
        (0.5, 0.5, 0.5),
        (0.9, 0.5, 0.5),
        (0, 0, None),
        (100, 0, None),
        (-1e9, 0, None),
    ]
    found = page.evaluate(SHARES, [[value, {"neutral": neutral, "span": span}] for value, neutral, span in estimates])
    assert found == pytest.approx([-1, -0.5, 0, 0.8, 0, 0.5, -1], abs=1e-6)


BARS = """async (given) => {
  const { evaluationBar } = await import("/page/bar.js");
  const place = document.querySelector("#board");
  place.style.cssText = "display: flex; gap: 1rem; height: 300px; width: 300px";
  place.replaceChildren(...given.map((one) => evaluationBar(one)));
}"""


@pytest.mark.parametrize("options", [{"color_scheme": scheme} for scheme in ("light", "dark")], ids=str)
def test_the_evaluation_bar_is_filled_from_below(page: Page, options: dict[str, Any]) -> None:
    visit(page)
    sides = [("seat0", "seat1"), ("black", "white"), ("yellow", "red")]
    given = [
        {"share": share, "text": text, "bottom": bottom, "top": top}
        for bottom, top in sides
        for share, text in ((-1, "loss"), (0, "+0.0"), (0.5, "+6.0"), (1, "win"), (None, ""))
    ]
    page.evaluate(BARS, given)
    heights = page.locator("#board .bar .level").evaluate_all(
        "(nodes) => nodes.map((one) => one.offsetHeight / one.parentElement.clientHeight)"
    )
    assert heights == pytest.approx([0, 0.5, 0.75, 1, 0.5] * 3, abs=0.01)
    expect(page.get_by_role("img", name="Evaluation for the player below: +6.0")).to_have_count(3)
    expect(page.get_by_role("img", name="Not evaluated")).to_have_count(3)
    readable = page.locator("#board .bar .text").evaluate_all(
        "(nodes) => nodes.map((one) => one.scrollWidth <= one.clientWidth)"
    )
    assert all(readable)
