"""Tree searches as opponents in a real browser: the shares of the moves in their simulations."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import choose, settled, visit

SEARCH = "Tree search, random matches"


def percentages(page: Page) -> list[int]:
    return [int(text.removesuffix("%")) for text in page.locator("#board .share").all_inner_texts()]


def test_each_square_shows_its_share_of_the_simulations(page: Page) -> None:
    visit(page)
    expect(page.locator("#board .value")).to_have_count(9)
    expect(page.locator("#board .share")).to_have_count(0)
    choose(page, SEARCH)
    shares = page.locator("#board .share")
    expect(shares).to_have_count(9)
    found = percentages(page)
    assert 95 <= sum(found) <= 105
    best = max(range(9), key=found.__getitem__)
    square = page.locator(f"[data-square='{best}']")
    expect(square).to_have_attribute("aria-label", re.compile(rf"value .*, {found[best]}% of the simulations$"))
    expect(page.locator("#values-about")).to_contain_text("Below it: the share of its simulations.")
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_have_text(
        re.compile(rf"Tree search, random matches would play .*, {max(found)}% of its simulations\)\.")
    )
    square.click()
    settled(page, 2)
    expect(shares).to_have_count(7)
    page.get_by_text("Perfect", exact=True).click()
    expect(shares).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"viewport": {"width": width, "height": 800}} for width in (375, 1280)])
def test_columns_show_shares_inside_their_heads(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/connect_four")
    choose(page, SEARCH)
    expect(page.locator("#board .share")).to_have_count(7)
    assert 95 <= sum(percentages(page)) <= 105
    fits = """(cells) => cells.every((cell) => {
        const [outer, inner] = [cell, cell.querySelector(".share")].map((node) => node.getBoundingClientRect());
        return inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right;
    })"""
    assert page.locator("#board .heads > span").evaluate_all(fits)
    assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]


@pytest.mark.slow
def test_buttons_show_shares(page: Page) -> None:
    visit(page, "/#play/sumto100")
    choose(page, SEARCH)
    expect(page.locator("#board .action .share")).to_have_count(10)
    assert 95 <= sum(percentages(page)) <= 105
