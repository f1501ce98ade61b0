"""The page of rules in a real browser, served and exported."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from selfplay.games import game_names, make_game
from tests.web.browser.browsing import visit

pytestmark = pytest.mark.slow

ONE_BOARD = [name for name in game_names() if not any(name.startswith(f"{other}_") for other in game_names())]
"""Each game once."""

SIZES = [{"viewport": {"width": w, "height": h}} for w, h in ((1400, 900), (390, 844), (320, 640))]
NARROWEST = SIZES[-1]


@pytest.mark.parametrize("options", SIZES, ids=str)
def test_every_game_has_rules_with_a_picture(page: Page, options: dict[str, Any]) -> None:
    for name in game_names() if options == NARROWEST else ONE_BOARD:
        show = make_game(name).presentation
        page.goto(f"/#rules/{name}")
        expect(page.get_by_role("heading", name=f"How to play {show.title}", exact=True)).to_be_visible()
        expect(page.locator("#rules-text li")).to_have_text(list(show.how_to_play))
        expect(page.locator("#rules-aim")).to_have_text(show.aim)
        picture = page.get_by_role("img", name=show.example_caption)
        expect(picture).to_be_visible()
        expect(page.locator("#rules-caption")).to_have_text(show.example_caption)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        box = picture.bounding_box()
        assert box is not None
        assert box["height"] <= options["viewport"]["height"]
        # Nothing in a picture can be reached.
        expect(page.locator("#rules-picture [inert]")).not_to_have_count(0)
        expect(page.locator("#rules-picture .cell[aria-disabled=false]")).to_have_count(0)


def test_pictures_mark_the_last_move_and_what_has_won(page: Page) -> None:
    for name, selector in {
        "tictactoe": ".cell.won",
        "connect_four": ".cell.won .disc.red",
        "hex": ".cell.won",
        "othello": ".disc.new, .disc.turned",
        "breakthrough": ".cell.last, .cell.origin",
    }.items():
        page.goto(f"/#rules/{name}")
        expected = {"tictactoe": 3, "connect_four": 4, "hex": 7}.get(name, 2)
        expect(page.locator(f"#rules-picture {selector}")).to_have_count(expected)
    page.goto("/#rules/sumto100")
    expect(page.locator("#rules-picture strong")).to_have_text("89")


def test_rules_and_match_are_one_click_apart(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=both&moves=1,1")
    page.get_by_role("link", name="Rules").click()
    expect(page.get_by_role("heading", name="How to play Tic-tac-toe")).to_be_visible()
    expect(page).to_have_title("How to play Tic-tac-toe · selfplay")
    expect(page.locator("#play")).to_be_hidden()
    page.locator("#rules-play").click()
    expect(page.locator("#board [data-square='4'] .sign")).to_have_count(1)
    page.get_by_role("link", name="Rules").click()
    page.get_by_label("Game").select_option("hex")
    expect(page.get_by_role("heading", name="How to play Hex 7x7")).to_be_visible()
    assert page.url.endswith("#rules/hex")
