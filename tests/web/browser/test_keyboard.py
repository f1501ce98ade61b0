"""The page in a real browser, used with the keyboard only."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import analyse, expect_result, plies, settled, visit

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
    page.get_by_text("Second", exact=True).click()
    press(page, "u")
    assert plies(page) == 0
    analyse(page)
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


def test_the_two_faces_are_tabs_that_the_arrow_keys_change(page: Page) -> None:
    visit(page)
    tabs = [page.get_by_role("tab", name=name) for name in ("Play", "Analyse")]
    panels = [page.get_by_role("tabpanel", name=name) for name in ("Play", "Analyse")]
    tabs[0].focus()
    for key, shown in (("ArrowRight", 1), ("ArrowLeft", 0), ("End", 1), ("Home", 0)):
        press(page, key)
        expect(tabs[shown]).to_be_focused()
        expect(tabs[shown]).to_have_attribute("aria-selected", "true")
        expect(panels[shown]).to_be_visible()
        expect(panels[1 - shown]).to_have_count(0)
        assert ("analyse=1" in page.url) == bool(shown)
    # Only the chosen one is reached by the Tab key.
    assert [tab.get_attribute("tabindex") for tab in tabs] == ["0", "-1"]


def test_a_move_that_was_chosen_by_a_key_keeps_the_focus(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=both&moves=1,1+0,1+2,0")
    page.locator("#plies .move").nth(1).focus()
    press(page, "Enter")
    expect(page.locator("#review-place")).to_have_text("2 of 3")
    expect(page.locator("#plies .move").nth(1)).to_be_focused()
