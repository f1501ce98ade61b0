"""Matches of every game in a real browser, played by clicks."""

import re
from math import dist
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.browsing import analyse, choose, expect_result, play_out, plies, settled, visit

MINUS = "\N{MINUS SIGN}"
START = [f"{MINUS}2", f"{MINUS}1", "0", "+1", "0", f"{MINUS}1", f"{MINUS}2"]


def test_a_match_against_a_level_is_played_by_clicks(page: Page) -> None:
    visit(page)
    expect(page.get_by_role("heading", name="Tic-tac-toe")).to_be_visible()
    expect(page.locator("#status")).to_have_text("Your turn: you are X.")
    expect(page.locator(".holder .name")).to_have_text(["Level 3 (O)", "You (X)"])
    # What is best is to be found.
    expect(page.locator("#board").locator(".value, [data-tone], .best")).to_have_count(0)
    analyse(page, "Estimates")
    # Beside its estimates, which are above or below 0, stands what is known.
    expect(page.locator("#board .value .share")).to_have_text(["draw"] * 9)
    expect(page.locator("#board .cell[data-tone=even]")).to_have_count(9)
    expect(page.locator("#values-about")).to_contain_text(
        "for you; above 0 is good. It is estimated by Level 3, against a"
    )
    expect(page.locator("#board .edge.top span")).to_have_text(["0", "1", "2"])
    expect(page.locator("#board .edge.left span")).to_have_text(["0", "1", "2"])
    page.get_by_role("gridcell", name="1,1, empty").click()
    settled(page, 2)
    expect(page.get_by_role("gridcell", name="1,1, X")).to_have_count(1)
    expect(page.locator("#status")).to_contain_text("Level 3 plays")
    expect(page.locator("#board .value")).to_have_count(7)
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#board").locator(".value, [data-tone], .best")).to_have_count(0)
    # Clicks on an occupied square, and a fast second click, change nothing.
    page.get_by_role("gridcell", name="1,1, X").click(force=True)
    settled(page, 2)
    play_out(page)
    expect_result(page)
    expect(page.locator("#plies .move")).to_have_count(plies(page))
    analyse(page)
    expect(page.locator("#curve circle")).to_have_count(plies(page))
    expect(page.locator("#score")).to_have_text(re.compile(r"^You \d : \d Level 3"))


@pytest.mark.slow
def test_the_score_is_that_of_the_players_and_counts_each_match_once(page: Page) -> None:
    visit(page)
    score = page.locator("#score")
    expect(score).to_have_text("")
    play_out(page)
    expect(score).to_have_text(re.compile(r"^You \d : \d Level 3"))
    first = score.inner_text()
    # The end is taken back and reached again, and then once more from the address of the match before its end.
    page.keyboard.press("u")
    settled(page)
    play_out(page)
    expect(page.locator("#standing")).to_have_text("Practice: this match does not count.")
    expect(score).to_have_text(first)
    page.keyboard.press("n")
    settled(page, 0)
    expect(score).to_have_text(first)
    play_out(page)
    expect(score).not_to_have_text(first)
    choose(page, "Random")
    expect(score).to_have_text("")


@pytest.mark.slow
def test_a_player_learns_once_from_a_match_on_the_page(page: Page) -> None:
    learning: list[bool] = []
    page.on("request", lambda request: learning.append("learn" in (request.post_data or "")))
    visit(page, "/#play/tictactoe?opponent=tabular:backward_value&person=first")
    play_out(page)
    expect(page.locator("#standing")).to_have_text(re.compile(r"^backward_value has learned from \d+ match"))
    once = page.locator("#standing").inner_text()
    page.reload()
    settled(page)
    expect(page.locator("#standing")).to_have_text(once)
    page.keyboard.press("u")
    settled(page)
    play_out(page)
    expect(page.locator("#standing")).to_have_text(f"Practice: this match does not count. {once}")
    assert sum(learning) == 1


def places_of_the_parts(page: Page) -> list[list[float]]:
    """Where the parts that stay are from the upper left corner of the board."""
    found: list[list[float]] = page.evaluate(
        """() => {
          const [board, ...others] = ["#board", "#new", "#review", "#tab-play", "#strengths"].map((name) => {
            return document.querySelector(name).getBoundingClientRect();
          });
          return others.map(({ x, y }) => [x - board.x, y - board.y]);
        }"""
    )
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"viewport": {"width": 1180, "height": 740}},
        {"viewport": {"width": 390, "height": 740}},
        {"viewport": {"width": 320, "height": 740}},
    ],
    ids=str,
)
def test_a_rematch_swaps_the_seats_and_its_button_moves_no_other(page: Page) -> None:
    visit(page)
    swap = page.get_by_role("button", name="Rematch")
    places = places_of_the_parts(page)
    expect(swap).to_have_count(0)
    play_out(page)
    expect(page.get_by_role("button", name="Hint")).to_have_count(0)
    assert places_of_the_parts(page) == places
    swap.click()
    settled(page, 1)
    expect(page.get_by_role("radio", name="Second")).to_be_checked()
    expect(page.locator("#score")).to_have_text(re.compile(r"^You \d : \d Level 3"))
    expect(swap).to_have_count(0)
    play_out(page)
    swap.click()
    settled(page, 0)
    assert "person=first" in page.url
    assert places_of_the_parts(page) == places


@pytest.mark.slow
def test_a_person_resigns_or_offers_a_draw(page: Page) -> None:
    said, resign, draw = page.locator("#status"), page.locator("#resign"), page.locator("#draw")
    # Before the first own move, there is nothing to give up.
    visit(page, "/#play/tictactoe?opponent=random&person=first")
    expect(resign).to_be_hidden()
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+0,0&seed=1")
    resign.click()
    expect(said).to_have_text("Press Resign again to give up this match.")
    resign.click()
    expect(said).to_contain_text("You lose.")
    expect(page.locator("#score")).to_have_text("You 0 : 1 Random")
    expect(page).to_have_url(re.compile("ended=resigned"))
    page.reload()
    settled(page, 2)
    expect(said).to_contain_text("You lose.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#board .legal")).to_have_count(7)
    # O has to stop a line: X wins, so the opponent, who is O, accepts; as O, the person is refused.
    for person, moves, answer in (
        ("first", "1,1+0,1+0,0+2,2", "A draw."),
        ("second", "1,1+0,1+0,0", "Random declines: it stands better. Your turn."),
        ("both", "1,1", "A draw."),
    ):
        visit(page, f"/#play/tictactoe?opponent=random&person={person}&moves={moves}")
        draw.click()
        expect(said).to_contain_text(answer)


@pytest.mark.slow
def test_two_people_and_watched_players_do_not_swap_seats(page: Page) -> None:
    for people in ("both", "none"):
        visit(page, f"/#play/tictactoe?opponent=random&person={people}&moves=1,1+0,1+0,0+0,2+2,2")
        expect(page.locator("#status")).to_contain_text("X wins.")
        expect(page.get_by_role("button", name="Rematch")).to_have_count(0)


@pytest.mark.slow
def test_values_are_asked_for_when_they_are_shown(page: Page) -> None:
    asked: list[dict[str, Any]] = []
    page.on("request", lambda request: asked.append(request.post_data_json) if request.method == "POST" else None)
    visit(page, "/#play/tictactoe?opponent=search-4&person=first")
    page.locator("[data-square='4']").click()
    settled(page, 2)
    assert not any("valued" in body or body.get("show", ["view"]) != ["view"] for body in asked)
    analyse(page, "Estimates")
    expect(page.locator("#board .value")).to_have_count(7)
    expect(page.locator("#curve circle")).to_have_count(2)
    # At the next move, of the new position and of the moves before it.
    page.locator("#board .legal").first.click()
    settled(page, 4)
    expect(page.locator("#board .value")).to_have_count(5)
    expect(page.locator("#curve circle")).to_have_count(4)
    page.get_by_role("button", name="First position").click()
    expect(page.locator("#board .value")).to_have_count(9)


@pytest.mark.slow
def test_undo_hint_other_values_and_another_level(page: Page) -> None:
    visit(page)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    page.locator("[data-square='0']").click()
    settled(page, 2)
    undo.click()
    settled(page, 0)
    analyse(page)
    expect(page.locator("#board .value")).to_have_count(9)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_contain_text("Perfect play: 0,0 draws. Best line: 0,0 1,1 ")
    expect(page.locator(".cell.hinted")).to_have_attribute("data-square", "0")
    expect(page.locator("#board .value", has_text="draw")).to_have_count(9)
    # None of them is better than another.
    expect(page.locator("#board .best")).to_have_count(0)
    page.get_by_text("None", exact=True).click()
    expect(page.locator("#board .value")).to_have_count(0)
    page.get_by_text("Estimates", exact=True).click()
    expect(page.locator("#board .value")).to_have_count(9)
    before = page.locator("#board .value").all_inner_texts()
    page.get_by_role("tab", name="Play").click()
    page.locator("#strengths").get_by_text("Easy").click()
    settled(page, 0)
    expect(page.locator("#number-label")).to_have_text("Easy")
    analyse(page)
    expect(page.locator("#values-about")).to_have_text("Easy does not estimate values.")
    # Whose values these are is chosen apart from the opponent, who may have none.
    page.get_by_role("tab", name="Play").click()
    choose(page, "Random")
    analyse(page)
    expect(page.locator("#board .value")).to_have_count(0)
    with page.expect_response("**/api/match"):
        page.get_by_text("What the values mean").click()
        page.locator("#adviser").select_option(label="Level 3")
    settled(page, 0)
    expect(page.locator("#board .value")).to_have_text(before, use_inner_text=True)
    expect(page.locator("#values-about")).to_contain_text("estimated by Level 3, against a player like itself")
    assert "adviser=level-3" in page.url


@pytest.mark.slow
def test_othello_shows_discs_counts_flips_and_letters(page: Page) -> None:
    visit(page, "/#play/othello_4x4")
    expect(page.locator(".holder .name")).to_have_text([re.compile(r"\(white\)$"), "You (black)"])
    expect(page.locator(".holder .count")).to_have_text(["2", "2"])
    expect(page.locator(".edge.top span")).to_have_text(list("abcd"))
    expect(page.locator("#notes")).to_contain_text("has no trained level yet")
    choose(page, "Random")
    # Without values, dots mark the legal squares.
    expect(page.locator(".cell.legal:not([data-tone])")).to_have_count(4)
    page.locator(".cell.legal").first.click()
    settled(page)
    expect(page.locator(".disc.turned")).not_to_have_count(0)


@pytest.mark.slow
def test_the_page_shows_when_the_values_of_a_search_are_exact(page: Page) -> None:
    visit(page, "/#play/othello_4x4?opponent=search-4&person=first")
    # This search solves the end of the match; before the end, nothing is shown.
    expect(page.locator("#number-label")).to_have_text("Search (4 plies)")
    analyse(page, "Estimates")
    expect(page.locator("#best")).not_to_contain_text("Perfect play")
    page.locator("#board .legal").first.click()
    settled(page, 2)
    expect(page.locator("#best")).to_contain_text("Perfect play: ")
    expect(page.locator("#values-about")).to_contain_text("Exact: the number of discs")
    page.locator("#board .legal").first.click()
    settled(page)
    expect(page.locator("#curve-kind")).to_have_text("— exact, in discs")
    page.get_by_text("None", exact=True).click()
    expect(page.locator("#best")).to_have_text("")


@pytest.mark.slow
def test_a_game_without_a_board_is_played_with_buttons(page: Page) -> None:
    visit(page, "/#play/sumto100?opponent=perfect&person=first")
    expect(page.locator(".sum")).to_have_text("sum0")
    page.locator("[data-action='9']").click()
    settled(page, 2)
    expect(page.locator(".sum")).to_have_text("sum12")
    expect(page.locator(".track circle")).to_have_count(2)
    visit(page, "/#play/sumto100?opponent=perfect&person=first&moves=10+2" + 7 * "+10+1")
    play_out(page)
    expect(page.locator("#status")).to_contain_text("You lose.")
    expect(page.locator(".sum")).to_have_text("sum100")


@pytest.mark.slow
def test_any_square_of_a_column_selects_it_and_the_stone_falls(page: Page) -> None:
    visit(page, "/#play/connect_four?opponent=random&person=first")
    expect(page.locator(".edge.top > span")).to_have_text(list("1234567"))
    expect(page.locator(".cell.legal")).to_have_count(7)
    expect(page.locator("#board .action")).to_have_count(0)
    # The top square of the fourth column; the stone falls to the bottom one.
    page.locator("[data-square='3']").click()
    settled(page, 2)
    expect(page.locator("[data-square='38'] .disc.red")).to_have_count(1)
    expect(page.locator("[data-square='38']")).to_have_attribute("aria-label", re.compile("^column 4, row 6, red"))
    expect(page.locator("#board .disc.yellow.new")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    settled(page, 0)
    page.locator("[data-square='38']").click()
    settled(page, 2)
    expect(page.locator("[data-square='38'] .disc.red")).to_have_count(1)


@pytest.mark.slow
def test_a_stone_is_moved_by_clicking_it_and_then_its_target(page: Page) -> None:
    visit(page, "/#play/breakthrough?opponent=random&person=both")
    expect(page.locator(".cell.legal")).to_have_count(5)
    # The other stone that is clicked takes the place of the first.
    for stone, targets in {"e2": 2, "c2": 3}.items():
        page.get_by_role("gridcell", name=f"{stone}, X").click()
        expect(page.get_by_role("gridcell", selected=True)).to_have_accessible_name(f"{stone}, X")
        expect(page.locator(".cell.legal")).to_have_count(targets)
    page.get_by_role("gridcell", name="c3, empty").click()
    settled(page, 1)
    # O captures with its stone.
    page.get_by_role("gridcell", name="d4, O").click()
    page.get_by_role("gridcell", name="c3, X").click()
    settled(page, 2)
    expect(page.locator(".cell.last")).to_have_accessible_name("c3, O, last move")
    expect(page.locator(".cell.origin")).to_have_accessible_name("d4, empty, left by the last move")
    ends = page.locator(".cell:is(.last, .origin)")
    shadows = ends.evaluate_all("(all) => all.map((one) => getComputedStyle(one).boxShadow)")
    assert len(shadows) == 2
    assert len(set(shadows)) == 1
    assert shadows[0] != "none"
    page.get_by_role("button", name="One move back").click()
    expect(page.locator(".cell.origin")).to_have_accessible_name("c2, empty, left by the last move")


@pytest.mark.slow
def test_moves_of_the_second_player_of_breakthrough_are_written_as_it_makes_them(page: Page) -> None:
    # The moves of O in the order of X, as in older addresses and lists.
    visit(page, "/#play/breakthrough?opponent=random&person=second&moves=c2c3+b3b4+c3d4")
    settled(page, 3)
    moves = page.locator("#plies .move")
    expect(moves).to_have_text(["c2c3", "b4b3", "c3d4"])
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_have_text(re.compile(r" would play [a-e](5[a-e]4|4[a-e]3|3[a-e]2|2[a-e]1) here"))
    page.get_by_role("gridcell", name="e5, O").click()
    page.get_by_role("gridcell", name="d4, X").click()
    settled(page, 5)
    expect(moves.nth(3)).to_have_text("e5d4")
    assert "moves=c2c3+b4b3+c3d4+e5d4+" in page.url
    page.get_by_role("button", name="First position").click()
    page.get_by_role("button", name="One move forward").click()
    page.get_by_role("button", name="One move forward").click()
    expect(page.locator("#status")).to_contain_text("plays b4b3")


@pytest.mark.slow
def test_hex_is_a_rhombus_in_which_a_cell_touches_six_others(page: Page) -> None:
    visit(page, "/#play/hex_3x3?opponent=random&person=both")
    boxes = [cell.bounding_box() for cell in page.locator("#board .cell").all()]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box is not None]
    side = middles[1][0] - middles[0][0]
    near = [number for number, middle in enumerate(middles) if 0 < dist(middle, middles[4]) < 1.25 * side]
    assert near == [1, 2, 3, 5, 6, 7]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for cell in (1, 3, 4, 5, 7):
        page.locator(f"[data-square='{cell}']").click()
        settled(page)
    expect(page.locator("#status")).to_contain_text("X wins.")


# ---------------------------------------------------------------------- perfect play


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"viewport": {"width": 375, "height": 740}}])
def test_columns_show_exact_scores_and_say_them_in_words(page: Page, options: dict[str, Any]) -> None:
    visit(page, "/#play/connect_four?opponent=random&person=first&analyse=1")
    values = page.locator("#board .value")
    expect(values).to_have_text(START)
    middle = page.locator("[data-square='38']")
    expect(middle).to_have_attribute("aria-label", "column 4, row 6, empty, value +1, wins in 21")
    expect(values.nth(3)).to_have_attribute("title", "wins in 21")
    assert page.locator(".cell.legal").evaluate_all("(nodes) => nodes.map((node) => node.dataset.tone)") == [
        *("bad", "bad", "even", "good", "even", "bad", "bad")
    ]
    expect(page.locator("#values-about")).to_contain_text("Best: 4 (wins in 21).")
    expect(page.locator("#best")).to_have_text("Perfect play: 4 (wins in 21).")
    page.get_by_text("What the values mean").click()
    expect(page.locator("#legend")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_contain_text("Perfect play: column 4 wins in 21. Best line: 4 4 ")
    expect(page.locator(".cell.hinted")).to_have_attribute("data-square", "38")
    middle.focus()
    page.keyboard.press("Enter")
    settled(page, 2)
    expect(values).to_have_count(7)
    expect(page.locator("#values-about")).not_to_contain_text("still being solved")
    page.get_by_role("tab", name="Play").click()
    choose(page, "Perfect play")
    analyse(page, "Estimates")
    expect(values).to_have_count(7)
    assert all(float(text.replace(MINUS, "-")).is_integer() for text in values.all_inner_texts())
