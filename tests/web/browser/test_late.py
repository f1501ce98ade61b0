"""Answers that arrive late, in a real browser: the page still shows the right things."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.web.browser.browsing import choose, settled, slide, until, visit

pytestmark = pytest.mark.slow


Body = dict[str, Any]
MATCH = "**/api/match"


# Keeps the texts of the status line, some of which are shown for a short time only.
KEEP_WHAT_IS_SAID = """
    window.said = [];
    document.addEventListener("DOMContentLoaded", () => {
        const status = document.getElementById("status");
        new MutationObserver(() => window.said.push(status.textContent)).observe(status, { childList: true });
    });
"""


def shows(part: str) -> Callable[[Body], bool]:
    return lambda body: body.get("show") == [part]


def has_moves(body: Body) -> bool:
    """Whether a request is about a match that has begun, and not about an earlier position."""
    return bool(body["moves"]) and "ply" not in body


def opponent_of(request: Request) -> str:
    opponent: str = request.post_data_json["opponent"]
    return opponent


class Late:
    """Delays the answer to the first matching request.

    Args:
        is_held: which requests to this address match, by their bodies.
    """

    def __init__(self, page: Page, is_held: Callable[[Body], bool] | None, address: str = MATCH) -> None:
        self.page, self.is_held, self.routes = page, is_held, list[Route]()
        self.has_begun = False
        page.route(address, self._route)

    def _route(self, route: Route) -> None:
        # Another request may match before the server has answered the first one.
        if self.has_begun or (self.is_held is not None and not self.is_held(route.request.post_data_json)):
            route.continue_()
        else:
            self.has_begun = True
            self.answer = route.fetch()
            self.routes.append(route)

    def wait(self) -> None:
        """Wait until the server has answered."""
        until(self.page, lambda: bool(self.routes))

    def come(self) -> None:
        """Let the answer through, and give the page time to handle it."""
        with self.page.expect_event("requestfinished", lambda request: request == self.routes[0].request):
            self.routes[0].fulfill(response=self.answer)
        self.page.evaluate("new Promise((done) => setTimeout(done, 100))")


def test_a_hint_for_an_earlier_position_is_not_shown(page: Page) -> None:
    visit(page)
    hint = Late(page, shows("hint"))
    page.get_by_role("button", name="Hint").click()
    hint.wait()
    page.locator("[data-square='4']").click()
    settled(page, 2)
    said = page.locator("#status").inner_text()
    hint.come()
    expect(page.locator(".hinted")).to_have_count(0)
    expect(page.locator("#status")).to_have_text(said)


@pytest.mark.parametrize(
    ("address", "clicks", "shown"),
    [
        ("tictactoe?opponent=level-3&person=first", ("4",), {"4": "X"}),
        ("othello?opponent=greedy&person=first", ("37",), {"37": "black"}),
        ("connect_four?opponent=random&person=first", ("3",), {"38": "red"}),
        ("breakthrough?opponent=random&person=first", ("17", "12"), {"17": "empty", "12": "X"}),
    ],
)
def test_the_stone_and_that_the_opponent_thinks_are_shown_at_once(
    page: Page, address: str, clicks: tuple[str, ...], shown: dict[str, str]
) -> None:
    visit(page, f"/#play/{address}")
    action = Late(page, has_moves)
    for square in clicks:
        page.locator(f"[data-square='{square}']").click()
    action.wait()
    for square, stone in shown.items():
        expect(page.locator(f"[data-square='{square}']")).to_have_accessible_name(re.compile(f", {stone}(,|$)"))
    expect(page.locator("#status")).to_have_text(
        re.compile(r"^You play \S+\. (.* is thinking|Preparing the opponent)…$")
    )
    expect(page.get_by_role("button", name="New match")).to_be_disabled()
    action.come()
    settled(page, 2)


def test_a_match_is_shown_while_its_opponent_is_being_prepared(page: Page) -> None:
    late = Late(page, lambda body: body["advance"])
    page.goto("/#play/connect_four?opponent=search-2&person=first&seed=1")
    late.wait()
    expect(page.locator("#board [data-square]")).to_have_count(42)
    settled(page, 0)
    expect(page.locator("#status")).to_have_text("Your turn: you are red.")
    late.come()
    page.locator("#board .legal").first.click()
    settled(page, 2)
    expect(page.locator("#status")).to_contain_text("Search (2 plies) plays")


def test_a_simple_opponent_moves_until_the_opponent_is_prepared(tab: Page) -> None:
    page = tab.context.new_page()
    progress = {"is_ready": False, "is_loading": True, "compiled": 12, "functions": 45, "seconds": 3.0}
    page.route("**/preparation*", lambda route: route.fulfill(json=progress))
    late = Late(page, lambda body: body["advance"])
    page.add_init_script(KEEP_WHAT_IS_SAID)
    page.goto("/#play/connect_four?opponent=search-2&person=second&seed=1")
    late.wait()
    settled(page, 1)
    assert "Preparing the opponent…" in page.evaluate("window.said")
    expect(page.locator("#preparing")).to_have_text(
        re.compile(
            r"^Preparing Search \(2 plies\): 12 of 45 functions compiled, \d+ s\. Until it is ready, a simple opponent "
            r"moves\.$"
        )
    )
    page.locator("#board .legal").first.click()
    settled(page, 3)
    said, standing = page.locator("#status"), page.locator("#standing")
    expect(said).to_have_text(re.compile(r"^A simple opponent plays \S+\. Your turn\.$"))
    late.come()
    expect(page.locator("#preparing")).to_be_hidden()
    page.locator("#board .legal").first.click()
    settled(page, 5)
    expect(said).to_contain_text("Search (2 plies) plays")
    reason = "A simple opponent played 2 moves while the opponent was being prepared: this match does not count."
    expect(standing).to_have_text(reason)
    page.reload()
    settled(page, 5)
    expect(standing).to_have_text(reason)
    page.close()


def test_the_page_says_that_a_new_match_is_on_its_way(page: Page) -> None:
    visit(page)
    late = Late(page, lambda body: not body["moves"])
    page.get_by_role("button", name="New match").click()
    late.wait()
    expect(page.locator("#status")).to_have_text("One moment…")
    late.come()
    settled(page, 0)
    expect(page.locator("#status")).to_have_text("Your turn: you are X.")


def test_a_stone_that_the_server_refuses_is_taken_away(page: Page) -> None:
    visit(page)
    page.route(MATCH, lambda route: route.fulfill(status=409, json={"error": "it is not a person's turn"}))
    page.locator("[data-square='4']").click()
    expect(page.locator("#error")).to_have_text("It is not a person's turn.")
    settled(page, 0)
    expect(page.locator("#board .sign")).to_have_count(0)


def test_values_of_perfect_play_that_are_shown_already_stay(page: Page) -> None:
    for game in ("connect_four", "tictactoe"):
        visit(page, f"/#play/{game}?opponent=perfect&person=first&values=adviser")
        values = page.locator("#board .value")
        expect(values).not_to_have_count(0)
        if game == "connect_four":
            expect(values).to_have_count(7)
        count, perfect = values.count(), Late(page, shows("judged"))
        page.get_by_text("Best known", exact=True).click()
        perfect.wait()
        page.locator("#share summary").click()
        page.evaluate("window.dispatchEvent(new Event('resize'))")
        assert values.count() == count, game
        perfect.come()
        expect(values).to_have_count(count)
        page.unroute_all(behavior="ignoreErrors")


def test_values_on_the_board_stay_until_others_come(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=level-3&person=first&analyse=1")
    expect(page.locator("#board .value", has_text="draw")).to_have_count(9)
    # However long they take.
    page.evaluate(
        """() => {
          const set = window.setTimeout;
          window.setTimeout = (does, after) => set(does, 100 * after);
          const board = document.querySelector("#board");
          window.fewest = 9;
          const count = () => (window.fewest = Math.min(window.fewest, board.querySelectorAll(".value").length));
          new MutationObserver(count).observe(board, { childList: true, subtree: true });
        }"""
    )
    page.get_by_text("Estimates", exact=True).click()
    expect(page.locator("#board .value .share")).to_have_count(9)
    assert page.evaluate("window.fewest") == 9


def test_a_match_is_shown_and_played_on_before_the_judge_answers(page: Page) -> None:
    for values in ("perfect", "adviser"):
        judge = Late(page, lambda body: "valued" in body or body.get("show") == ["judged"])
        visit(page, f"/#play/tictactoe?opponent=level-3&person=first&moves=1,1&analyse=1&values={values}")
        judge.wait()
        settled(page, 2)
        expect(page.locator("#board .legal")).to_have_count(7)
        judge.come()
        expect(page.locator("#board .value")).to_have_count(7)
        page.unroute_all(behavior="ignoreErrors")
        page.goto("about:blank")


def test_the_page_says_how_far_the_review_is_which_begins_with_the_last_move(page: Page) -> None:
    asked: list[int] = []
    page.on(
        "request", lambda one: asked.append(one.post_data_json["ply"]) if "judged" in (one.post_data or "") else None
    )
    judge = Late(page, lambda body: body.get("show") == ["judged"] and body["ply"] == 2)
    page.goto("/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1")
    judge.wait()
    said = page.locator("#status")
    expect(said).to_have_text("Random plays 2,1. You lose. Reviewing… 3 of 6")
    # Screen readers are told the result, and what follows from all values.
    expect(said).to_match_aria_snapshot("- status: Random plays 2,1. You lose.")
    judge.come()
    expect(said).to_have_text("You lose. 1 blunder; decided at move 5.")
    assert asked == [5, 4, 3, 2, 1, 0]
    page.unroute_all(behavior="ignoreErrors")
    exercise = Late(page, lambda body: body.get("show") == ["judged"] and body["ply"] == 0)
    page.reload()
    settled(page, 6)
    page.get_by_role("button", name="Learn from mistakes").click()
    exercise.wait()
    expect(said).to_have_text("Looking for your mistakes… Reviewing… 5 of 6")
    exercise.come()
    expect(said).to_contain_text("Mistake 1 of 1")


def prepare_search(page: Page) -> None:
    """Wait until the search has been prepared, in whose place others move before, and choose another opponent."""
    with page.expect_response(lambda response: is_preparation(response.request)):
        choose(page, "Search")
    choose(page, "Random")


def is_preparation(request: Request) -> bool:
    body = request.post_data_json if request.method == "POST" else None
    return body is not None and is_search(body) and not body["moves"]


def is_search(body: Body) -> bool:
    opponent: str = body["opponent"]
    return opponent.startswith("search")


def test_the_last_opponent_chosen_during_a_request_takes_over(tab: Page) -> None:
    page = tab.context.new_page()
    page.add_init_script("const set = setTimeout; window.setTimeout = (...of) => (window.hasTimer = true, set(...of))")
    visit(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(opponent_of(request)) if request.method == "POST" else None)
    reply = Late(page, has_moves)
    page.locator("[data-square='4']").click()
    reply.wait()
    page.evaluate("window.hasTimer = false")
    for number in (0, 1, 0):
        slide(page, number)
    assert not page.evaluate("Boolean(window.hasTimer)")
    with page.expect_response(MATCH):
        reply.come()
    settled(page, 2)
    expect(page.locator("#number-label")).to_have_text("Level 1")
    assert [one for one, before in zip(asked[1:], asked, strict=False) if one != before] == ["level-1"]
    page.unroute_all(behavior="wait")
    prepare_search(page)
    # A square clicked while the opponent is being changed is played when the change has finished.
    change = Late(page, is_search)
    page.get_by_label("Kind of opponent").select_option(label="Search")
    change.wait()
    page.locator("#board .legal").first.click()
    change.come()
    settled(page, 4)
    expect(page.locator("#status")).to_contain_text("Search (4 plies) plays")
    page.close()


def test_a_seat_chosen_during_a_request_is_taken_after_it(page: Page) -> None:
    visit(page)
    prepare_search(page)
    change = Late(page, is_search)
    page.locator("#opponents").evaluate("(node) => { node.open = true; }")
    page.get_by_label("Kind of opponent").select_option(label="Search")
    change.wait()
    page.get_by_text("Second", exact=True).click()
    change.come()
    settled(page, 1)
    expect(page.locator("#status")).to_contain_text("Search (4 plies) plays")
    # Once the person has moved, another seat is for the next match.
    page.unroute_all(behavior="wait")
    reply = Late(page, lambda body: has_moves(body) and len(body["moves"].split()) == 2)
    page.locator("#board .legal").first.click()
    reply.wait()
    page.get_by_text("First", exact=True).click()
    reply.come()
    settled(page, 3)
    expect(page.locator("#status")).to_have_text("You move first from the next match on; New match begins it now.")
    page.get_by_role("button", name="Undo").click()
    settled(page, 1)
    page.keyboard.press("n")
    settled(page, 0)


def test_the_settings_stay_where_they_are_when_the_proof_arrives(page: Page) -> None:
    proof = Late(page, None, "**/proof*")
    visit(page)
    proof.wait()
    before = page.get_by_text("Second", exact=True).bounding_box()
    proof.come()
    expect(page.locator("#proof")).to_contain_text("lines")
    assert page.get_by_text("Second", exact=True).bounding_box() == before
