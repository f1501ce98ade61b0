"""A variation that is kept beside the match while one analyses, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import settled, visit

pytestmark = pytest.mark.slow

MATCH = "/#play/tictactoe?opponent=random&person=first&seed=7&moves=1,1+0,1+0,0+2,2&analyse=1"
"""A match of a person, in which it is the person's turn."""


def cell(page: Page, square: int) -> None:
    page.locator(f"[data-square='{square}']").click()


def moves(page: Page, table: str) -> list[str]:
    return page.locator(f"#{table} .move").all_inner_texts()


def test_another_move_in_an_analysis_begins_a_variation_beside_the_match(page: Page) -> None:
    visit(page, f"{MATCH}&ply=2")
    said, variation, match = page.locator("#status"), page.locator("#variation-plies"), page.locator("#plies")
    expect(variation).to_be_hidden()
    # The move of the match begins none.
    cell(page, 0)
    expect(page.locator("#review-place")).to_have_text("3 of 4")
    expect(variation).to_be_hidden()
    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#review-place")).to_have_text("2 of 4")
    cell(page, 2)
    expect(said).to_have_text("Variation from move 3. O to move.")
    expect(page.get_by_role("table", name="Variation from move 3")).to_be_visible()
    # Both sides are moved, and nobody replies.
    cell(page, 6)
    settled(page, 4)
    assert (moves(page, "plies"), moves(page, "variation-plies")) == (["1,1", "0,1", "0,0", "2,2"], ["0,2", "2,0"])
    expect(variation.locator("[aria-current=step]")).to_have_text("2,0")
    expect(page.locator("#standing")).to_have_text("")
    # Either is shown by a click on its moves.
    match.locator(".move").nth(3).click()
    expect(page.get_by_role("gridcell", name=re.compile("^2,2, O"))).to_have_count(1)
    expect(match.locator("[aria-current=step]")).to_have_text("2,2")
    variation.locator(".move").first.click()
    expect(said).to_contain_text("Variation from move 3. Move 3 of 4")
    expect(page.get_by_role("gridcell", name=re.compile("^0,2, X"))).to_have_count(1)
    # The address has both.
    page.reload()
    expect(variation.locator("[aria-current=step]")).to_have_text("0,2")
    assert moves(page, "plies") == ["1,1", "0,1", "0,0", "2,2"]
    page.get_by_role("button", name="To the match").click()
    expect(page.locator("#review-place")).to_have_text("2 of 4")
    page.get_by_role("button", name="Close the variation").click()
    expect(variation).to_be_hidden()
    expect(page).to_have_url(re.compile("^(?!.*variation)"))


def test_the_match_stays_as_it_was_and_a_file_has_it(page: Page, tmp_path: Path) -> None:
    visit(page, f"{MATCH}&variation=1,1+0,1+0,2+2,0&line=variation")
    page.locator("#share").evaluate("(node) => { node.open = true; }")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Save file").click()
    downloading.value.save_as(tmp_path / "match")
    saved = (tmp_path / "match").read_text()
    assert ("2,2" in saved, "0,2" in saved) == (True, False)
    # Without its first move, nothing is left of a variation.
    page.keyboard.press("u")
    settled(page, 3)
    page.keyboard.press("u")
    expect(page.locator("#variation-plies")).to_be_hidden()
    visit(page, f"{MATCH}&variation=1,1+0,1+0,2+2,0&line=variation")
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#variation-plies")).to_be_hidden()
    assert moves(page, "plies") == ["1,1", "0,1", "0,0", "2,2"]
    settled(page, 4)
    page.locator("#board .legal").first.click()
    expect(page.locator("#plies .move").nth(5)).to_be_visible()


def test_a_variation_is_played_on_as_practice(page: Page) -> None:
    visit(page, f"{MATCH}&variation=1,1+0,1+0,2+2,0&line=variation")
    page.get_by_role("button", name="Play on from here").click()
    expect(page.get_by_role("tab", name="Play")).to_have_attribute("aria-selected", "true")
    settled(page, 4)
    assert moves(page, "plies") == ["1,1", "0,1", "0,2", "2,0"]
    expect(page.locator("#standing")).to_contain_text("Practice")
    page.go_back()
    expect(page.locator("#variation-plies .move")).to_have_text(["0,2", "2,0"])
