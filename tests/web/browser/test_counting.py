"""After two passes in Go, people agree which stones are dead, play on, or claim more than the opponent grants."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import settled, visit

WALLS = "B1+D1+B2+D2+B3+D3+B4+D4+B5+D5+E3+A3+pass+pass"
"""Two walls; behind each is a stone of the other colour, which is dead."""
BLACK, WHITE = "[data-square='14']", "[data-square='10']"
"""These stones."""
AGREED = "Points: black 10, white 17.5, with komi 7.5."


pytestmark = pytest.mark.slow


def count(page: Page, person: str) -> None:
    """Go to the match, and wait until the dead stones are found."""
    visit(page, f"/#play/go_5x5?opponent=random&person={person}&seed=1&moves={WALLS}")
    expect(page.locator("#status")).to_contain_text(AGREED)


def test_an_opponent_agrees_to_its_own_proposal_and_to_no_more(page: Page) -> None:
    count(page, "first")
    agree, status, dead = page.get_by_role("button", name="Agree"), page.locator("#status"), page.locator(".disc.dead")
    expect(dead).to_have_count(2)
    expect(page.locator(BLACK)).to_have_accessible_name("E3, black, territory of white, dead")
    expect(page.locator("#count-rule")).to_contain_text(
        "Random agrees to its own proposal and to changes in its favour"
    )
    # Black's stone alive is a claim of black; white's stone alive is for white.
    page.locator(BLACK).click()
    expect(status).to_contain_text("Points: black 11, white 12.5")
    expect(agree).to_have_attribute("aria-disabled", "true")
    agree.click(force=True)
    page.locator(BLACK).press("Enter")
    expect(status).to_contain_text(AGREED)
    page.locator(WHITE).click()
    expect(status).to_contain_text("Points: black 5, white 18.5")
    agree.click()
    expect(status).to_have_text(re.compile(r"^You lose\. Points: black 5, white 18\.5"))
    expect(page.locator("#score")).to_have_text("You 0 : 1 Random")
    expect(page.locator("#board .disc")).to_have_count(11)
    # The address has what was agreed.
    page.reload()
    expect(status).to_contain_text("Points: black 5, white 18.5")
    expect(agree).to_be_hidden()


@pytest.mark.parametrize("person", ["both", "second"])
def test_play_on_takes_the_passes_back(page: Page, person: str) -> None:
    count(page, person)
    page.get_by_role("button", name="Play on").click()
    expect(page.locator("#status")).to_have_text(re.compile("(Your turn|Black to move).*"))
    settled(page)
    page.locator("[data-square='4']" if person == "both" else "[data-square='0']").click()
    expect(page.locator("#plies")).not_to_contain_text("pass")


def test_territory_is_shown_in_an_analysis_once_it_means_something(page: Page) -> None:
    walls = WALLS.removesuffix("+pass+pass")
    visit(page, f"/#play/go_5x5?opponent=random&person=both&seed=1&moves={walls}&analyse=1")
    corner, dead, marks = page.locator("[data-square='0']"), page.locator(BLACK), page.locator("#board .territory")
    expect(page.locator("#board .value")).not_to_have_count(0)
    expect(marks).to_have_count(0)
    page.get_by_label("Territory").check()
    expect(corner.locator(".territory.black")).to_have_count(1)
    expect(corner).to_have_accessible_name(re.compile("^A5, empty, (likely )?territory of black"))
    # A stone that is likely to be captured has the mark of the other player, one of a wall has none.
    expect(dead.locator(".territory.white")).to_have_count(1)
    expect(page.locator("[data-square='1'] .territory")).to_have_count(0)
    # Values would cover it.
    expect(page.locator("#board .cell .value")).to_have_count(0)
    page.reload()
    expect(corner.locator(".territory.black")).to_have_count(1)
    page.get_by_role("button", name="First position").click()
    expect(page.locator("#territory-about")).to_have_text("Territory is shown after 9 more stones.")
    expect(marks).to_have_count(0)
    page.get_by_role("button", name="Last position").click()
    expect(marks).not_to_have_count(0)
    page.get_by_role("tab", name="Play").click()
    expect(marks).to_have_count(0)
    visit(page, "/#play/tictactoe?opponent=random&person=both&analyse=1")
    expect(page.get_by_label("Territory")).to_be_hidden()
