"""The address of a match in a real browser: it brings the match back, and leads back to one that was left."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import analyse, choose, choose_game, plies, settled, visit

pytestmark = pytest.mark.slow


def play(page: Page, *squares: int) -> None:
    for square in squares:
        before = plies(page)
        page.locator(f"[data-square='{square}']").click()
        expect(page.locator(f"body[data-plies='{before}']")).to_have_count(0)
        settled(page)


def stones(page: Page) -> list[str]:
    return page.locator(".cell").evaluate_all("(cells) => cells.map((cell) => cell.ariaLabel.split(',')[2].trim())")


def test_a_match_is_brought_back_after_a_reload_and_by_a_link(page: Page) -> None:
    visit(page)
    choose(page, "Search")
    page.get_by_text("Second", exact=True).click()
    settled(page, 1)
    play(page, int(page.locator("#board .legal").first.get_attribute("data-square") or 0))
    before, address = stones(page), page.url
    assert "opponent=search-4" in address
    for again in (page.reload, lambda: page.goto("about:blank")):
        again()
        page.goto(address)
        settled(page, 3)
        assert stones(page) == before
        expect(page.locator("#number-label")).to_have_text("Search (4 plies)")
        expect(page.locator("input[name=person][value=second]")).to_be_checked()
        expect(page.locator("#plies .move")).to_have_count(3)
    # The values chosen and the move under review are part of the address, and an unknown game is named.
    analyse(page, "Estimates")
    page.keyboard.press(",")
    expect(page.locator("#review-place")).to_have_text("2 of 3")
    # The address follows when the perfect values are there.
    expect(page).to_have_url(re.compile("&analyse=1&values=adviser&ply=2"))
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("#review-place")).to_have_text("2 of 3")
    expect(page.locator("input[name=values][value=adviser]")).to_be_checked()
    visit(page, "/#play/chess")
    expect(page.locator("#error")).to_have_text('There is no game "chess"; this is Tic-tac-toe.')
    page.goto("about:blank")
    visit(page, address.replace("&ply=2", ""))
    page.keyboard.press("u")
    settled(page, 1)


@pytest.mark.parametrize("shown", ["values=none", "ply=1", "analyse=1"])
def test_an_address_with_values_or_an_earlier_position_is_analysed(page: Page, shown: str) -> None:
    visit(page, f"/#play/tictactoe?opponent=random&person=both&moves=1,1+0,1&{shown}")
    expect(page.get_by_role("tab", name="Analyse")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#bar")).to_be_visible(visible=shown != "values=none")
    # What is not of an analysis is not kept in the address of a match that is played.
    page.get_by_role("tab", name="Play").click()
    expect(page).to_have_url(re.compile(r"moves=1%2C1\+0%2C1$"))
    expect(page.locator("#bar")).to_be_hidden()


def test_a_link_with_moves_only_shows_their_position_and_nobody_replies(page: Page) -> None:
    visit(page, "/#play/connect_four?moves=444")
    settled(page, 3)
    expect(page.locator("[data-square='24'] .disc.red")).to_have_count(1)
    expect(page.locator("#status")).to_contain_text("Yellow to move.")


def test_a_match_that_was_left_is_offered_and_can_be_returned_to(page: Page) -> None:
    visit(page)
    expect(page.locator("#left")).to_be_hidden()
    play(page, 4)
    before = stones(page)
    page.keyboard.press("n")
    settled(page, 0)
    expect(page.locator("#left")).to_contain_text("You left a match of Tic-tac-toe after 2 moves.")
    page.get_by_role("button", name="Return to it").click()
    settled(page, 2)
    assert stones(page) == before
    expect(page.locator("#left")).to_be_hidden()
    choose_game(page, "sumto100")
    expect(page.locator("#left")).to_contain_text("You left a match of Tic-tac-toe")
    page.go_back()
    expect(page.locator("#play[data-game=tictactoe]")).to_have_count(1)
    settled(page, 2)
    assert stones(page) == before


def test_a_match_is_copied_saved_and_loaded(page: Page) -> None:
    visit(page, "/#play/othello?opponent=random&person=first")
    play(page, 19)
    moves = page.locator("#moves")
    analyse(page)
    page.get_by_text("Copy, save or load").click()
    expect(moves).to_have_value(page.url.rpartition("moves=")[2].removesuffix("&analyse=1"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save file").click()
    assert saved.value.suggested_filename == "othello.ggf"
    text = saved.value.path().read_text()
    assert text.startswith("(;GM[Othello]")
    page.keyboard.press("n")
    settled(page, 0)
    moves.fill(text)
    page.get_by_role("button", name="Load").click()
    settled(page, 2)
    assert page.locator(".cell .disc").count() == 6
    # For two people: no opponent adds a move.
    moves.fill("d3")
    page.get_by_role("button", name="Load").click()
    settled(page, 1)
    expect(page.locator("#status")).to_contain_text("White to move.")
    moves.fill("d3 c1")
    page.get_by_role("button", name="Load").click()
    expect(page.locator("#error")).to_contain_text(
        "The match breaks off after 1 move. Transcript, disc 2: action c1 is not legal here: a disc has to enclose"
    )
    settled(page, 1)
    # Nothing replaces the match by nothing.
    for empty, said in (("", "There are no moves to load"), ("x9", None)):
        moves.fill(empty)
        page.get_by_role("button", name="Load").click()
        expect(page.locator("#share-state" if said else "#error")).to_contain_text(said or "'x9' is not a move")
        settled(page, 1)
    for content, place, said in ((b" \n", "#share-state", "The file holds no match."), (b"#\n", "#error", "no match.")):
        page.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": content})
        expect(page.locator(place)).to_contain_text(said)
        settled(page, 1)


def test_a_file_of_another_program_is_opened_and_saved(page: Page) -> None:
    visit(page, "/#play/go_3x3?opponent=random&person=first")
    analyse(page)
    page.get_by_text("Copy, save or load").click()
    record = b"(;GM[1]FF[4]SZ[3]KM[7.5]PB[Ann]RE[W+R];B[bb]C[the middle];W[ab](;B[cc])(;B[ca]))"
    page.locator("#file").set_input_files({"name": "a.sgf", "mimeType": "text/plain", "buffer": record})
    settled(page, 3)
    expect(page.locator("#moves")).to_have_value("B2 A2 C1")
    expect(page.locator("#status")).to_contain_text("White to move.")
    # What the file says besides the moves, until other moves are made.
    expect(page.locator("#record")).to_have_text(
        "Ann (black). White wins by resignation. 1 other line of play is left out."
    )
    expect(page.locator("#below .name")).to_have_text("Ann (black)")
    expect(page.locator("#above .name")).to_have_text("White")
    page.get_by_role("button", name="First position").click()
    page.get_by_role("button", name="One move forward").click()
    expect(page.locator("#comment")).to_have_text("the middle")
    page.get_by_role("button", name="Last position").click()
    expect(page.locator("#comment")).to_have_text("")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save file").click()
    assert saved.value.suggested_filename == "go_3x3.sgf"
    assert re.search(r"PB\[Ann\].*RE\[W\+R\]", saved.value.path().read_text(), re.DOTALL)
    # Later moves are not those of its players.
    page.locator("#board .legal").first.click()
    settled(page, 4)
    with page.expect_download() as continued:
        page.get_by_role("button", name="Save file").click()
    text = continued.value.path().read_text()
    assert "PB[human]" in text
    assert "RE[" not in text
    expect(page.locator("#below .name")).to_have_text("Black")
    assert ";B[bb];W[ab];B[cc])" in saved.value.path().read_text().replace("\n", "")


def test_a_record_is_opened_with_its_komi_and_its_handicap_is_shown(page: Page) -> None:
    visit(page, "/#play/go_7x7?opponent=random&person=first")
    analyse(page)
    page.get_by_text("Copy, save or load").click()
    for komi, number, stones, game in [("9", 2, "[ec][ce]", "go_7x7"), ("5.5", 3, "[ec][ce][cc]", "go_7x7_komi=5.5")]:
        record = f"(;GM[1]FF[4]SZ[7]KM[{komi}]HA[{number}]AB{stones}PL[W];W[dd];B[de])".encode()
        page.locator("#file").set_input_files({"name": "a.sgf", "mimeType": "text/plain", "buffer": record})
        expect(page).to_have_url(re.compile(f"/#play/{game}[?].*moves=D4"))
        settled(page, 2)
        expect(page.locator("#board .disc")).to_have_count(number + 2)
        expect(page.locator("#option-komi")).to_have_value(komi)
        expect(page.locator("#handicap")).to_have_value(str(number))
        expect(page.locator("#moves")).to_have_value("D4 D3")
        expect(page.get_by_role("tab", name="Analyse")).to_have_attribute("aria-selected", "true")


def test_a_record_with_options_that_the_page_does_not_have_is_refused(page: Page) -> None:
    visit(page, "/#play/gomoku?opponent=random&person=both&moves=e5")
    analyse(page)
    page.get_by_text("Copy, save or load").click()
    page.locator("#moves").fill("(;GM[4]FF[4]SZ[10];B[aa])")
    page.get_by_role("button", name="Load").click()
    expect(page.locator("#error")).to_have_text(
        "This is a match of gomoku_10x10, not of gomoku; choose that game for it."
    )
    settled(page, 1)


def moves(page: Page) -> str:
    return page.url.partition("moves=")[2]


def test_a_match_that_was_reloaded_gets_the_same_replies(page: Page) -> None:
    visit(page, "/#play/gomoku?opponent=random&person=first")
    assert re.search(r"&seed=\d+", page.url)
    play(page, 0)
    before = moves(page)
    page.get_by_role("button", name="Undo").click()
    settled(page, 0)
    page.reload()
    settled(page, 0)
    play(page, 0)
    assert moves(page) == before
    # Other matches get others, each of 80 with the same probability.
    replies = set()
    for _ in range(8):
        page.keyboard.press("n")
        settled(page, 0)
        play(page, 0)
        replies.add(moves(page))
    assert len(replies) > 1
