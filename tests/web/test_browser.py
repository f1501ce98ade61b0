"""The page in a real browser: played by clicks, by keys alone, on a narrow screen, dark and light; the run's story."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from selfplay.games import TicTacToe
from selfplay.run_folder import RunFolder
from tests.web.conftest import Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Without them a browser of root's does not start, or asks the closed network for its own affairs.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (apt-get install chromium)")

PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def options() -> dict[str, Any]:
    """What the browser's window is like; a test may ask for another one."""
    return {"viewport": {"width": 1180, "height": 900}}


def is_fault(message: ConsoleMessage) -> bool:
    """An answer that refuses something is none: the page shows its sentence."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")


@pytest.fixture
def page(browser: Browser, server: Server, options: dict[str, Any]) -> Iterator[Page]:
    context = browser.new_context(base_url=server.address, reduced_motion="reduce", **options)
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if is_fault(message) else None)
    page.on("request", lambda request: None if server.address in request.url else faults.append(request.url))
    yield page
    context.close()
    assert faults == []


def settled(page: Page, plies: int | None = None) -> None:
    """Wait until it is the person's turn, or the match is over."""
    busy = page.locator("body[data-busy=false]" + ("" if plies is None else f"[data-plies='{plies}']"))
    expect(busy).to_have_count(1)


def visit(page: Page, address: str = "/") -> None:
    page.goto(address)
    settled(page)


def choose(page: Page, opponent: str) -> None:
    """Choose the opponent of that text in the list."""
    with page.expect_response(lambda response: "/opponent" in response.url and response.request.method == "PUT"):
        page.get_by_label("Kind of opponent").select_option(label=opponent)
    settled(page)


def slide_to(page: Page, number: int) -> None:
    """Bring the slider to its entry of that number, with the keys that a slider knows."""
    slider = page.locator("#number")
    with page.expect_response(lambda response: "/opponent" in response.url):
        slider.evaluate(
            "(node, value) => { node.value = value; for (const kind of ['input', 'change'])"
            " node.dispatchEvent(new Event(kind, { bubbles: true })); }",
            number,
        )
    settled(page)


def play_out(page: Page) -> None:
    """Click the first legal square until the match is over."""
    legal = page.locator("#board .cell.legal, #board .action")
    while legal.count() > 0:
        plies = int(page.locator("body").get_attribute("data-plies") or 0)
        legal.first.click()
        # At least the person's own ply is there before the next one is looked for.
        expect(page.locator(f"body[data-plies='{plies}']")).to_have_count(0)
        settled(page)


# ---------------------------------------------------------------------- tic-tac-toe


def test_a_match_against_a_level_is_played_by_clicks(page: Page) -> None:
    visit(page)
    expect(page.get_by_role("heading", name="Tic-tac-toe")).to_be_visible()
    expect(page.locator("#status")).to_have_text("Your turn: you are X.")
    expect(page.locator("#number-label")).to_have_text("Level 3")
    expect(page.locator("#board .value")).to_have_count(9)
    page.get_by_role("gridcell", name="1,1, empty").click()
    settled(page, 2)
    expect(page.get_by_role("gridcell", name="1,1, X")).to_have_count(1)
    expect(page.locator("#status")).to_contain_text("Level 3 plays")
    expect(page.locator("#board .value")).to_have_count(7)
    # A square that is taken, and a fast second click, change nothing.
    page.get_by_role("gridcell", name="1,1, X").click(force=True)
    settled(page, 2)
    play_out(page)
    assert page.locator("#status").inner_text().rpartition(" ")[2] in ("win.", "lose.", "draw.")
    expect(page.locator("#curve circle")).to_have_count(int(page.locator("body").get_attribute("data-plies") or 0))
    expect(page.locator("#plies tbody tr")).to_have_count(page.locator("#curve circle").count())
    expect(page.locator("#standing")).to_contain_text("match 1")
    page.get_by_role("button", name="New match").click()
    settled(page, 0)


def test_undo_hint_and_other_values(page: Page) -> None:
    visit(page)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    page.locator("[data-square='0']").click()
    settled(page, 2)
    undo.click()
    settled(page, 0)
    expect(page.locator("#board .value")).to_have_count(9)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_contain_text("Level 3 would play")
    expect(page.locator(".cell.hinted")).to_have_count(1)
    page.get_by_text("Perfect", exact=True).click()
    expect(page.locator("#board .value", has_text="+0.00")).to_have_count(9)
    page.get_by_text("None", exact=True).click()
    expect(page.locator("#board .value")).to_have_count(0)


def test_the_slider_changes_the_level_where_the_match_stands(page: Page) -> None:
    visit(page)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    before = page.locator("#board .value").all_inner_texts()
    slide_to(page, 0)
    settled(page, 2)
    expect(page.locator("#number-label")).to_have_text("Level 1")
    assert page.locator("#board .value").all_inner_texts() != before
    play_out(page)


def test_a_search_and_the_other_seat(page: Page) -> None:
    visit(page)
    choose(page, "Search")
    expect(page.locator("#proof")).to_contain_text("lines tried")
    # Nothing has been played, so the other one starts at once.
    page.locator(".choice").get_by_text("It", exact=True).click()
    settled(page, 1)
    expect(page.locator("#status")).to_contain_text("Search (4 plies) plays")
    play_out(page)
    assert page.locator("#status").inner_text().rpartition(" ")[2] in ("win.", "lose.", "draw.")


def test_it_is_said_when_an_opponent_is_proved_unbeatable(page: Page) -> None:
    visit(page)
    choose(page, "Perfect play")
    expect(page.locator("#proof.sure")).to_contain_text("Proved unbeatable. Perfect play cannot lose: all ")
    choose(page, "Random")
    expect(page.locator("#proof.beatable")).to_contain_text("Random can lose")
    expect(page.locator("#values-about")).to_have_text("Random values nothing.")


def test_a_whole_match_is_played_by_keys_alone(page: Page) -> None:
    visit(page)
    page.locator("[data-square='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    settled(page, 2)
    expect(page.get_by_role("gridcell", name="1,1, X")).to_be_focused()
    page.keyboard.press("u")
    settled(page, 0)
    # Over all squares in their order, playing on each; those that are taken say no.
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    for row in range(3):
        for _ in range(3):
            page.keyboard.press("Space")
            settled(page)
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Home")
        if row < 2:
            page.keyboard.press("ArrowDown")
    assert page.locator("#status").inner_text().rpartition(" ")[2] in ("win.", "lose.", "draw.")
    page.keyboard.press("n")
    settled(page, 0)


def test_a_match_that_was_forgotten_begins_anew(page: Page, server: Server) -> None:
    visit(page)
    for name in list(server.desk.matches._matches):
        server.desk.matches.remove(name)
    page.locator("[data-square='0']").click()
    expect(page.locator("#error")).to_contain_text("There is no such match")
    expect(page.locator("#status")).to_have_text("Here is a new match.")
    page.locator("[data-square='0']").click()
    settled(page, 2)
    expect(page.locator("#error")).to_be_hidden()


# ---------------------------------------------------------------------- other games


def test_othello_shows_discs_counts_flips_and_letters(page: Page) -> None:
    visit(page, "/#play/othello_4x4")
    expect(page.locator("#counts .side")).to_have_text(["2 black (you)", "2 white (it)"])
    expect(page.locator(".edge.top span")).to_have_text(list("abcd"))
    expect(page.locator("#notes")).to_contain_text("has no trained level yet")
    choose(page, "Random")
    # Without values, dots say where one may play.
    expect(page.locator(".cell.legal:not([data-tone])")).to_have_count(4)
    page.locator(".cell.legal").first.click()
    settled(page)
    expect(page.locator(".disc.turned")).not_to_have_count(0)
    play_out(page)
    assert "can only pass" in page.locator("#status").inner_text() or page.locator(".cell .disc").count() > 4


def test_passes_are_said(page: Page) -> None:
    visit(page, "/#play/othello_4x4")
    choose(page, "Most discs now")
    page.locator(".choice").get_by_text("It", exact=True).click()
    settled(page, 1)
    said = []
    legal = page.locator("#board .cell.legal")
    while legal.count() > 0:
        plies = int(page.locator("body").get_attribute("data-plies") or 0)
        legal.nth(min(1, legal.count() - 1)).click()
        expect(page.locator(f"body[data-plies='{plies}']")).to_have_count(0)
        settled(page)
        said.append(page.locator("#status").inner_text())
    assert any("You can only pass." in words for words in said)
    assert any("Most discs now can only pass." in words for words in said)


def test_a_game_without_a_board_is_played_with_buttons(page: Page) -> None:
    visit(page, "/#play/sumto100")
    choose(page, "Perfect play")
    expect(page.locator(".sum")).to_have_text("sum0")
    page.locator("[data-action='9']").click()
    settled(page, 2)
    expect(page.locator(".sum")).to_have_text("sum12")
    expect(page.locator(".track circle")).to_have_count(2)
    play_out(page)
    expect(page.locator("#status")).to_contain_text("You lose.")
    expect(page.locator(".sum")).to_have_text("sum100")


class ByButtons(TicTacToe):
    """A game whose actions are no matter of squares."""

    name = "by_buttons"

    def pointed_squares(self, action: int) -> list[int]:
        return []


def test_actions_that_stand_on_no_square_are_buttons_below_the_board(page: Page, server: Server) -> None:
    server.desk.roster.games["by_buttons"] = ByButtons()
    try:
        visit(page, "/#play/by_buttons")
        expect(page.locator("#board .action")).to_have_count(9)
        page.locator("[data-action='4']").click()
        settled(page, 2)
        expect(page.locator("#board .sign")).to_have_count(2)
        expect(page.locator("#board .action .value")).to_have_count(7)
        page.get_by_role("button", name="Hint").click()
        expect(page.locator(".action.hinted")).to_have_count(1)
    finally:
        del server.desk.roster.games["by_buttons"]


def test_a_column_is_chosen_at_any_of_its_squares_and_the_stone_falls(page: Page) -> None:
    visit(page, "/#play/connect_four")
    choose(page, "Random")
    expect(page.locator(".cell.legal")).to_have_count(7)
    expect(page.locator("#board .action")).to_have_count(0)
    # The top square of the fourth column; the stone comes to stand on the bottom one.
    page.locator("[data-square='3']").click()
    settled(page, 2)
    expect(page.locator("[data-square='38'] .disc.red")).to_have_count(1)
    expect(page.locator("[data-square='38']")).to_have_attribute("aria-label", re.compile("^column 4, row 6, first"))
    expect(page.locator("#board .disc.yellow.new")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    settled(page, 0)
    page.locator("[data-square='38']").click()
    settled(page, 2)
    expect(page.locator("[data-square='38'] .disc.red")).to_have_count(1)
    play_out(page)
    expect(page.locator("#status")).to_contain_text(re.compile("You win|You lose|A draw"))


# ---------------------------------------------------------------------- screens


@pytest.mark.parametrize(
    "options", [{"viewport": {"width": 320, "height": 640}, "has_touch": True, "color_scheme": "dark"}]
)
def test_a_narrow_dark_screen_holds_everything(page: Page, options: dict[str, Any]) -> None:
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
    # Dark paper, light ink.
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


# ---------------------------------------------------------------------- the story


def test_the_story_has_charts_with_their_figures_as_tables(page: Page) -> None:
    page.goto("/#story/tictactoe")
    expect(page.locator("#charts figure")).to_have_count(6)
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


def test_the_story_is_live_while_the_run_goes_on(page: Page, server: Server) -> None:
    run = server.desk.roster.run(server.desk.roster.game("tictactoe"))
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
