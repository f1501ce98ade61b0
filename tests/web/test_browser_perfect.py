"""Perfect play in a real browser: exact scores of Connect Four."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.browsing import choose, settled, until, visit

MINUS = "\N{MINUS SIGN}"
START = [f"{MINUS}2", f"{MINUS}1", "0", "+1", "0", f"{MINUS}1", f"{MINUS}2"]


@pytest.mark.parametrize("options", [{"viewport": {"width": 375, "height": 740}}])
def test_columns_show_exact_scores_and_say_them_in_words(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/connect_four")
    choose(page, "Random")
    page.get_by_text("Perfect", exact=True).click()
    values = page.locator("#board .value")
    expect(values).to_have_text(START)
    middle = page.locator("[data-square='38']")
    expect(middle).to_have_attribute("aria-label", "column 4, row 6, empty, value +1, wins in 21")
    expect(values.nth(3)).to_have_attribute("title", "wins in 21")
    assert page.locator(".cell.legal").evaluate_all("(nodes) => nodes.map((node) => node.dataset.tone)") == [
        *("bad", "bad", "even", "good", "even", "bad", "bad")
    ]
    expect(page.locator("#values-about")).to_contain_text("Best: 4 (wins in 21).")
    expect(page.locator("#legend")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_have_text("Perfect play: column 4 wins in 21.")
    middle.focus()
    page.keyboard.press("Enter")
    settled(page, 2)
    expect(values).to_have_count(7)
    expect(page.locator("#values-about")).not_to_contain_text("still being solved")
    choose(page, "Perfect play")
    page.get_by_text("Opponent\N{RIGHT SINGLE QUOTATION MARK}s", exact=True).click()
    expect(values).to_have_count(7)
    assert all(float(text.replace(MINUS, "-")).is_integer() for text in values.all_inner_texts())


def test_a_position_that_takes_long_is_completed_when_its_values_are_known(page: Page) -> None:
    values = [-2.0, -1.0, 0.0, 1.0, 0.0, -1.0, -2.0]
    columns = {"actions": list(range(7)), "texts": list("1234567")}
    complete = {**columns, "kind": "scores", "values": values, "words": ["in words"] * 7, "is_complete": True}
    partial = {**complete, "values": [-2.0, *[None] * 6], "words": ["in words", *[None] * 6], "is_complete": False}
    held: list[Route] = []

    def answer(route: Route) -> None:
        if "seconds=0.3" in route.request.url:
            route.fulfill(json=partial)
        else:
            held.append(route)

    page.route("**/perfect?*", answer)
    visit(page, "/#play/connect_four")
    page.get_by_text("Perfect", exact=True).click()
    shown, about = page.locator("#board .value"), page.locator("#values-about")
    expect(shown).to_have_text([START[0]])
    expect(about).to_contain_text("still being solved")
    settled(page, 0)
    until(page, lambda: bool(held))
    held[0].fulfill(json=complete)
    expect(shown).to_have_text(START)
    expect(about).not_to_contain_text("still being solved")
    assert len(held) == 1


def test_a_game_that_is_too_large_offers_no_perfect_play(page: Page) -> None:
    visit(page, "/#play/othello")
    expect(page.locator("input[name=values][value=perfect]")).to_be_disabled()
    expect(page.locator("#values-about")).to_contain_text("too large to compute perfect play")
