"""The page in a real browser, used with the keyboard only."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import expect_result, plies, settled, visit

pytestmark = pytest.mark.slow


def press(page: Page, *keys: str) -> None:
    """Press keys wherever the focus is, and wait until each has taken effect."""
    for key in keys:
        page.keyboard.press(key)
        settled(page)


def test_a_whole_match_is_played_by_keys_alone(page: Page) -> None:
    visit(page)
    page.locator("[data-square='0']").focus()
    press(page, "ArrowRight", "ArrowDown", "Enter")
    expect(page.get_by_role("gridcell", name="1,1, X")).to_be_focused()
    press(page, "u")
    assert plies(page) == 0
    # Try every square in order; occupied ones are rejected.
    press(page, "ArrowUp", "ArrowLeft")
    for _ in range(3):
        press(page, *3 * ("Space", "ArrowRight"), "Home", "ArrowDown")
    expect_result(page)
    press(page, "n")
    assert plies(page) == 0


def test_letters_work_after_a_radio_button_was_clicked(page: Page) -> None:
    visit(page)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    page.get_by_text("None", exact=True).click()
    press(page, "u")
    assert plies(page) == 0
    page.locator("#moves").evaluate("(node) => { node.closest('details').open = true; node.focus(); }")
    page.keyboard.type("hun")
    # Browsers report that the part was opened some time later, perhaps after the first letters.
    page.locator("#share").dispatch_event("toggle")
    expect(page.locator("#moves")).to_have_value("hun")
    settled(page, 0)


def test_numbers_choose_columns_in_connect_four(page: Page) -> None:
    visit(page, "/#play/connect_four?opponent=random&person=both&moves=111111")
    press(page, "7")
    expect(page.locator("[data-square='41'] .disc.red")).to_have_count(1)
    # A full column, and no column.
    press(page, "1", "8", "0")
    assert plies(page) == 7
    # In an earlier position nothing is played.
    press(page, "ArrowLeft")
    expect(page.locator("#play.reviewed")).to_have_count(1)
    press(page, "4")
    expect(page.locator("#review-place")).to_have_text("6 of 7")
    assert plies(page) == 7
