"""How the page looks in a real browser: narrow screens, dark and light, and the story of the run."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from selfplay.games import game_names
from selfplay.runs.run_folder import RunFolder
from tests.web.browser.browsing import in_windows, settled, visit
from tests.web.conftest import Server

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [{"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"}])
def test_everything_fits_on_a_narrow_dark_screen(page: Page, options: dict[str, Any]) -> None:
    for address in ("/", "/#play/othello?opponent=random", "/#play/sumto100", "/#story/tictactoe", "/docs"):
        page.goto(address)
        if "play" in address:
            settled(page)
        else:
            expect(page.locator(".card, #game-list a").filter(visible=True).first).to_be_visible()
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


def test_the_boards_of_a_game_are_offered_together(page: Page) -> None:
    visit(page)
    groups = page.locator("#game > *").evaluate_all("(all) => all.map((one) => one.label)")
    boards = ["Tic-tac-toe", "Connect Four", "Othello", "Hex", "Gomoku", "Go", "Breakthrough"]
    assert groups == [*boards, "English draughts", "Nine men's morris", "Dots and Boxes", "SumTo100"]
    boards = page.locator("#game optgroup[label=Othello] option")
    expect(boards).to_have_text(["Othello", "Othello 6x6", "Othello 4x4"])


def test_the_first_screen_shows_the_games_as_pictures_with_their_sizes(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="What do you want to play?")).to_be_visible()
    games = page.locator("#game-list .game")
    expect(games.first.locator("b")).to_have_text("Tic-tac-toe")
    # Each board once: as a size, or as the only board of its game.
    places = page.locator("#game-list a").evaluate_all("(nodes) => nodes.map((one) => one.hash)")
    assert {place.removeprefix("#play/") for place in places} == set(game_names())
    expect(page.locator("#game-list svg")).to_have_count(games.count())
    # The stones of the example of its rules.
    expect(page.locator("#game-list a[href='#play/tictactoe'] svg text")).to_have_text(["X", "O", "O", "X", "X"])
    for _ in in_windows(page, [(320, 640), (390, 844), (1180, 900)]):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Hex 5x5").click()
    settled(page, 0)
    expect(page.locator("#board .cell")).to_have_count(25)
    page.get_by_role("link", name="Games").click()
    expect(page.get_by_role("heading", name="What do you want to play?")).to_be_visible()
    page.get_by_role("link", name="Play", exact=True).click()
    expect(page.locator("#board .cell")).to_have_count(25)


def test_the_story_has_charts_with_their_data_as_tables(page: Page) -> None:
    page.goto("/#story/tictactoe")
    expect(page.locator("#charts figure")).to_have_count(7)
    # Charts come before the verdict and the settings.
    expect(page.locator("#charts figure").first).to_have_id("losses")
    box, window = page.locator("#losses svg.chart").bounding_box(), page.viewport_size
    assert box is not None
    assert window is not None
    assert box["y"] < window["height"] / 2
    expect(page.locator("#summary")).to_contain_text("seed=0")
    expect(page.locator("#losses .line")).to_have_count(3)
    expect(page.locator("#exact .portion")).to_have_count(12)
    # Each is drawn as high as its share: no other rule of the style sheets may set its size.
    drawn = page.locator("#exact svg rect").evaluate_all("(all) => all.map((one) => one.getBBox().height)")
    shares = page.locator("#exact svg rect title").evaluate_all(
        "(all) => all.map((one) => +one.textContent.split(' ').at(-1))"
    )
    assert [height / sum(drawn[:3]) for height in drawn] == pytest.approx(shares, abs=1e-3)
    expect(page.locator("#certain tbody tr")).to_have_count(4)
    page.locator("#wins summary").click()
    expect(page.locator("#wins tbody tr")).to_have_count(3)
    page.get_by_label("Game").select_option("sumto100")
    expect(page.locator("#story-notes")).to_contain_text("has no trained level yet")
    page.get_by_role("link", name="Play").click()
    settled(page)
    expect(page.get_by_role("heading", name="SumTo100")).to_be_visible()


def test_a_game_without_a_run_shows_the_story_of_the_agent_that_comes_with_the_program(page: Page) -> None:
    page.goto("/#story/connect_four")
    title = page.locator("#story-title")
    expect(title).to_have_text("Connect Four: the story of the agent that comes with the program")
    expect(page.locator("#story-state")).to_contain_text("Level 15 comes with the program")
    expect(page.locator("#ratings .dot").first).to_be_visible()
    expect(page.locator("#mistakes .line").first).to_be_visible()
    page.get_by_label("Game").select_option("tictactoe")
    expect(title).to_have_text("Tic-tac-toe: the story of the run")


def test_a_game_that_takes_long_to_open_says_what_happens(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/games/tictactoe/opponents", lambda route: held.append(route))
    page.goto("/#play/tictactoe")
    expect(page.locator("#status")).to_contain_text("rules are compiled once on each computer")
    held[0].continue_()
    settled(page, 0)
    expect(page.locator("#status")).to_have_text("Your turn: you are X.")


def test_the_story_is_updated_during_a_run(page: Page, server: Server) -> None:
    run = server.service.catalog.run(server.service.catalog.game("tictactoe"))
    page.goto("/#story/tictactoe")
    expect(page.locator("#story-state")).to_contain_text("3 levels")
    new = run.level(4)
    try:
        with RunFolder(run.path).lock():
            shutil.copytree(run.level(3), new)
            run.strength(4).write_text(run.strength(3).read_text().replace("\n3,", "\n4,"))
            expect(page.locator("#story-state")).to_contain_text("4 levels")
            expect(page.locator("#losses .line")).to_have_count(4)
            # It was measured when it was trained; its rating is not known before the comparison.
            expect(page.locator("#exact .portion")).to_have_count(15)
            expect(page.locator("#certain tbody tr").last.locator("td").last).to_have_text("")
            expect(page.locator("#ratings .dot")).to_have_count(4)
            if Path("/proc/locks").exists():
                expect(page.locator(".live")).to_be_visible()
    finally:
        shutil.rmtree(new, ignore_errors=True)
    expect(page.locator("#story-state")).to_contain_text("3 levels")
