"""Stepping through the moves, other seats, and positions set up by hand, in a real browser."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.browser.browsing import analyse, expect_result, open_more, play_out, plies, settled, until, visit

pytestmark = pytest.mark.slow

MINUS = "\N{MINUS SIGN}"
START = [f"{MINUS}2", f"{MINUS}1", "0", "+1", "0", f"{MINUS}1", f"{MINUS}2"]
"""Exact scores of the first moves of Connect Four."""


def labels(page: Page) -> list[str]:
    return page.locator(".cell").evaluate_all("(cells) => cells.map((cell) => cell.ariaLabel)")


def stones(page: Page) -> int:
    return page.locator(".cell .sign, .cell .disc").count()


def test_long_names_of_players_are_not_cut_off_beside_the_curve(page: Page) -> None:
    def renamed(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(
            response=answer, json=[game | {"seat_names": ["attackers", "of long names"]} for game in answer.json()]
        )

    page.route("**/api/games", renamed)
    # Another address alone would not load the page again.
    page.goto("about:blank")
    visit(page, "/#play/tictactoe?opponent=random&person=both&moves=1,1+0,0&analyse=1")
    names = page.locator("#curve text[text-anchor=end]")
    expect(names).to_have_text(["attacke…", "even", "of long…"])
    left = page.locator("#curve svg").evaluate("(one) => one.getBoundingClientRect().left")
    # There are some pixels around the curve.
    assert min(names.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().left)")) >= left - 5


def test_the_moves_are_stepped_through_by_keys_buttons_the_table_and_the_curve(page: Page) -> None:
    visit(page)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    play_out(page)
    count = plies(page)
    place = page.locator("#review-place")
    # The focus is on a square that was clicked.
    page.keyboard.press("ArrowLeft")
    expect(place).to_have_text(f"{count - 1} of {count}")
    page.keyboard.press(",")
    expect(place).to_have_text(f"{count - 2} of {count}")
    assert stones(page) == count - 2
    expect(page.locator("#status")).to_contain_text(f"Move {count - 2} of {count}")
    page.get_by_role("button", name="First position").click()
    expect(place).to_have_text(f"0 of {count}")
    assert stones(page) == 0
    # Nothing is valued before it is analysed.
    expect(page.locator("#board .value")).to_have_count(0)
    analyse(page)
    expect(page.locator("#board .value")).to_have_count(9)
    page.locator("#plies .move").nth(2).click()
    expect(place).to_have_text(f"3 of {count}")
    expect(page.locator("#plies .move[aria-current=step]")).to_have_count(1)
    page.locator("#curve circle").first.click()
    expect(place).to_have_text(f"1 of {count}")
    page.get_by_role("button", name="Last position").click()
    expect(place).to_have_text(str(count))
    expect_result(page)


def test_a_match_is_played_on_from_an_earlier_move(page: Page) -> None:
    visit(page)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    page.locator("#board .legal").first.click()
    settled(page, 4)
    page.keyboard.press(",")
    page.keyboard.press(",")
    expect(page.locator("#review-place")).to_have_text("2 of 4")
    before = labels(page)
    # In an earlier position, squares cannot be played.
    page.locator("#board .legal").last.click(force=True)
    expect(page.locator("#review-place")).to_have_text("2 of 4")
    analyse(page)
    page.get_by_role("button", name="Play on from here").click()
    settled(page, 2)
    expect(page.get_by_role("tab", name="Play")).to_have_attribute("aria-selected", "true")
    assert [label.split(", value")[0] for label in labels(page)] == [label.split(", value")[0] for label in before]
    page.go_back()
    settled(page, 4)


def test_moves_that_threw_away_the_draw_or_the_win_are_blunders_with_exact_scores(page: Page) -> None:
    # The second move loses, the third throws the win away, the last loses again.
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+0,1+2,1+0,0+0,2+1,2")
    blunders = page.locator("#plies td.blunder")
    expect(blunders).to_have_count(0)
    analyse(page)
    # Each of these moves changed the result; the text of the cell says what would have kept it.
    expect(blunders).to_have_count(3)
    expect(blunders.first).to_contain_text(re.compile(r"blunder: \d,\d draws"))
    expect(page.locator("#plies td.blunder .better", has_text="wins")).to_have_count(1)
    page.get_by_role("tab", name="Play").click()
    expect(page.locator("#plies").locator(".blunder, .worth")).to_have_count(0)


def test_a_finished_match_is_reviewed_with_exact_values_unless_others_are_chosen(page: Page) -> None:
    visit(page, "/#play/connect_four?opponent=medium&person=first&moves=61316131&analyse=1")
    expect(page.locator("input[name=values][value=perfect]")).to_be_checked()
    # The last move wins; before, each throws away a win or a draw.
    expect(page.locator("#plies td.blunder")).to_have_count(7)
    expect(page.locator("#curve circle.blunder")).to_have_count(7)
    expect(page.locator("#curve-kind")).to_have_text("— exact")
    expect(page.locator("#plies td").first).to_contain_text("loses in 21")
    page.locator("#curve circle").first.click()
    page.get_by_role("button", name="One move back").click()
    expect(page.locator("#board .value")).to_have_text(START)
    page.get_by_text("Estimates", exact=True).click()
    expect(page.locator("#plies td.blunder")).to_have_count(0)
    page.reload()
    settled(page, 8)
    expect(page.locator("input[name=values][value=adviser]")).to_be_checked()
    page.keyboard.press("n")
    settled(page, 0)
    expect(page.locator("input[name=values][value=adviser]")).to_be_checked()


def test_after_a_match_one_sentence_says_how_it_went(page: Page) -> None:
    visit(page, "/#play/connect_four?opponent=medium&person=first&moves=61316131")
    # Each of the person's moves threw something away; the last of them lost a match that was won or drawn.
    expect(page.locator("#status")).to_have_text("You lose. 4 blunders; decided at move 7.")
    page.keyboard.press(",")
    expect(page.locator("#status")).to_contain_text("Move 7 of 8: red (you) plays 3 (blunder; better: 1)")
    page.keyboard.press(".")
    expect(page.locator("#status")).to_have_text("You lose. 4 blunders; decided at move 7.")
    page.get_by_role("tab", name="Analyse").click()
    expect(page.get_by_role("tabpanel", name="Analyse")).to_be_visible()
    # A match that was never anything else has no such move; between two people, nobody is told.
    visit(page, "/#play/sumto100?opponent=random&person=first&moves=1" + 9 * "+10+1")
    expect(page.locator("#status")).to_have_text("You win. No mistakes.")
    visit(page, "/#play/tictactoe?opponent=random&person=both&moves=1,1+2,2+0,0+2,0+0,1+2,1")
    page.wait_for_timeout(300)
    expect(page.locator("#status")).to_have_text("O wins.")


def test_the_bar_shows_who_stands_better_by_the_values_on_the_board(page: Page) -> None:
    bar = page.locator("#bar .bar")
    for people, text, share in (("first", "+4", "1"), ("second", f"{MINUS}4", "-1")):
        visit(page, f"/#play/connect_four?opponent=random&person={people}&moves=4441&analyse=1&ply=4")
        expect(bar).to_have_attribute("aria-label", f"Evaluation for the player below: {text}")
        assert bar.evaluate("(node) => node.style.getPropertyValue('--share')") == share
        expect(bar).to_have_class(re.compile("yellow" if people == "first" else "red"))
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1&analyse=1")
    expect(bar).to_have_attribute("aria-label", "Evaluation for the player below: loss")
    expect(bar.locator(".text.at-top")).to_have_text("win")
    page.get_by_role("button", name="First position").click()
    expect(bar).to_have_attribute("aria-label", "Evaluation for the player below: draw")
    page.get_by_text("Estimates", exact=True).click()
    expect(bar).to_have_attribute("aria-label", "Not evaluated")
    page.get_by_text("None", exact=True).click()
    expect(bar).to_be_hidden()


def test_the_review_of_othello_has_one_unit_over_the_whole_match(page: Page) -> None:
    """Against a player that turns the most discs, whose values are no estimates."""
    moves = "c4c5f6c3b5g7e3e6c2f3g3a5h8b3"
    visit(page, f"/#play/othello?opponent=greedy&person=both&moves={moves}&values=adviser")
    expect(page.locator("#values-about")).to_contain_text(
        "in discs; above 0 is good. It is estimated by Pretrained, 5 plies"
    )
    expect(page.locator("#curve-kind")).to_have_text("— estimated, in discs")
    expect(page.locator("#curve-source")).to_have_text("The curve is estimated by Pretrained, 5 plies, and smoothed.")
    expect(page.locator("#curve circle")).to_have_count(len(moves) // 2)
    expect(page.locator("#plies .worth", has_text="discs")).to_have_count(len(moves) // 2)
    page.get_by_text("Best known", exact=True).click()
    expect(page.locator("#values-about")).to_have_text(
        "The value of each move, in discs, estimated by Pretrained, 5 plies."
    )
    page.get_by_role("button", name="Hint").click()
    best = page.locator("#board .cell.best")
    expect(page.locator(".cell.hinted")).to_have_attribute("data-square", best.first.get_attribute("data-square"))


def test_a_person_learns_from_the_mistakes_of_a_lost_match(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1")
    page.get_by_role("button", name="Learn from mistakes").click()
    said = page.locator("#status")
    expect(said).to_contain_text(re.compile("Mistake 1 of 1: your move 0,1 .*is a blunder"))
    # Nothing on the page tells the solution.
    expect(page.locator("#board .value")).to_have_count(0)
    for what in ("#curve", "#best", "#bar"):
        expect(page.locator(what)).to_be_hidden()
    expect(page.locator("#plies").locator(".worth, .mark")).to_have_count(0)
    # The move that was played is there, faintly.
    expect(page.locator("[data-square='1'] .sign.ghost")).to_have_count(1)
    for square, answer in (
        (1, "is the move you played"),
        (3, "is a blunder too"),
        (7, "Right: 2,1 is good. Best: 2,1."),
    ):
        page.locator(f"[data-square='{square}']").click()
        expect(said).to_contain_text(answer)
    expect(page.locator("#board .value")).not_to_have_count(0)
    expect(page.locator(".cell.hinted")).to_have_attribute("data-square", "7")
    # The best line is stepped through on the board, by a button or by keys.
    expect(said).to_contain_text("Best line: 2,1 ")
    place, before = page.locator("#review-place"), stones(page)
    page.get_by_role("button", name="One move forward").click()
    expect(said).to_have_text(re.compile(r"^Best line, move 1 of \d: 2,1\.$"))
    expect(page.get_by_role("gridcell", name="2,1, X, last move")).to_have_count(1)
    expect(page.locator("#board").locator(".value, .ghost, .hinted")).to_have_count(0)
    page.keyboard.press(".")
    expect(place).to_have_text(re.compile("^2 of "))
    page.keyboard.press(",")
    page.keyboard.press(",")
    expect(place).to_have_text(re.compile("^0 of "))
    # With the ghost.
    assert stones(page) == before
    page.get_by_role("button", name="Done").click()
    expect(said).to_have_text("You lose. 1 blunder; decided at move 5.")
    settled(page, 6)


def test_a_review_and_an_exercise_are_not_undone_by_the_way(page: Page) -> None:
    visit(page, "/#play/tictactoe?opponent=random&person=first&moves=1,1+2,2+0,0+2,0+0,1+2,1")
    undo, hint = (page.get_by_role("button", name=name) for name in ("Undo", "Hint"))
    page.get_by_role("button", name="Learn from mistakes").click()
    expect(page.locator("#status")).to_contain_text("Mistake 1 of 1")
    for key, button in (("u", undo), ("h", hint)):
        expect(button).to_have_count(0)
        page.keyboard.press(key)
    expect(page.locator("#status")).to_contain_text("Mistake 1 of 1")
    expect(page.locator(".hinted")).to_have_count(0)
    page.get_by_role("button", name="Done").click()
    settled(page, 6)
    page.get_by_role("tab", name="Play").click()
    page.keyboard.press(",")
    expect(page.locator("#review-place")).to_have_text("5 of 6")
    page.keyboard.press("u")
    expect(page.locator("#review-place")).to_have_text("5 of 6")
    # The end of a match is taken back for practice; the match is still there.
    page.keyboard.press(".")
    undo.click()
    settled(page, 4)
    page.go_back()
    settled(page, 6)
    expect(page.locator("#standing")).not_to_contain_text("Practice")


def test_another_seat_in_mid_match_is_announced_for_the_next_one(page: Page) -> None:
    visit(page)
    page.locator("[data-square='4']").click()
    settled(page, 2)
    page.get_by_text("Second", exact=True).click()
    expect(page.locator("#status")).to_have_text("You move second from the next match on; New match begins it now.")
    page.get_by_text("First", exact=True).click()
    expect(page.locator("#status")).to_have_text("Your turn.")
    page.get_by_text("Second", exact=True).click()
    page.get_by_role("button", name="New match").click()
    settled(page, 1)
    expect(page.locator("#status")).to_contain_text("Your turn: you are O.")


@pytest.mark.parametrize("options", [{"viewport": {"width": 390, "height": 844}}])
def test_a_position_that_is_refused_leaves_no_error_over_the_match(page: Page, options: dict[str, Any]) -> None:
    visit(page)
    analyse(page)
    page.get_by_text("Set up a position").click()
    for square in (0, 1):
        page.locator(f"[data-square='{square}']").click()
    # Of the match, which is not on the board.
    expect(page.locator("#bar")).not_to_be_visible()
    expect(page.get_by_role("button", name="Hint")).to_be_disabled()
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#error")).to_be_in_viewport()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#error")).to_be_hidden()
    settled(page, 0)


def test_discs_that_both_players_lost_are_drawn_and_the_position_is_saved_as_a_picture(page: Page) -> None:
    visit(page, "/#play/othello_4x4?opponent=search-4&person=first&values=adviser")
    expect(page.locator("#discs-lost")).to_be_hidden()
    play_out(page)
    expect(page.locator("#discs-lost path.loss")).to_have_count(2)
    expect(page.locator("#discs-lost-source")).to_have_text(re.compile(r"^— black \d+\.\d, white \d+\.\d discs$"))
    page.get_by_text("Copy, save or load").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == "othello_4x4.svg"
    picture = download.value.path().read_text()
    assert (picture.count("<rect"), picture.count("<circle")) == (16, stones(page))
    page.get_by_text("Copy, save or load").click()


def test_two_people_play_and_two_players_are_watched(page: Page) -> None:
    visit(page)
    open_more(page)
    page.get_by_text("Two people", exact=True).click()
    settled(page, 0)
    expect(page.locator("#status")).to_have_text("X to move.")
    for number, square in enumerate((0, 3, 1, 4, 2), start=1):
        page.locator(f"[data-square='{square}']").click()
        settled(page, number)
    expect(page.locator("#status")).to_have_text("X wins.")
    expect(page.locator(".cell.won")).to_have_count(3)
    page.get_by_text("Watch", exact=True).click()
    settled(page)
    page.get_by_role("button", name="New match").click()
    settled(page, 0)
    expect(page.locator("#status")).to_contain_text("Press Run")
    page.locator("#partner").select_option(label="Random")
    settled(page, 0)
    page.get_by_role("button", name="Step").click()
    settled(page, 1)
    expect(page.locator("#status")).to_contain_text("X, Random, plays")
    page.get_by_role("button", name="Step").click()
    settled(page, 2)
    expect(page.locator("#status")).to_contain_text("O, Level 3, plays")
    page.get_by_role("button", name="Run").click()
    until(page, lambda: page.locator("#run").inner_text() == "Run")
    expect(page.locator("#status")).to_contain_text(re.compile("wins|draw"))
    assert "person=none&partner=random" in page.url


def test_a_position_is_set_up_and_valued(page: Page) -> None:
    visit(page)
    analyse(page)
    page.get_by_text("Set up a position").click()
    page.locator("[data-square='0']").click()
    page.get_by_text("O moves next").click()
    page.get_by_role("button", name="Use it").click()
    settled(page, 0)
    expect(page.locator("#status")).to_have_text("O to move.")
    assert stones(page) == 1
    expect(page.locator("#board .value", has_text="draw")).to_have_count(1)
    expect(page.locator("#board .cell.best")).to_have_attribute("data-square", "4")
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("#status")).to_contain_text("Best line: 1,1 ")
    page.reload()
    settled(page, 0)
    assert stones(page) == 1
    expect(page.locator("#standing")).to_contain_text("Practice")


F6 = {"action": 45, "name": "f6", "words": None}
COURSE = """async ([plies, known, winner]) => {
  const { aboutCourse } = await import("/page/words.js");
  const judge = { label: "judge", estimates: true, neutral: 0, span: 1 };
  const person = { by_person: true, is_forced: false, seat: 0, in_points: false, words: null };
  const shown = plies.map((ply) => ({ ...person, ...ply }));
  const match = { plies: shown, person_seat: 0, is_over: true, winner, advisers: [judge, judge] };
  const found = { kind: "results", isExact: false, isComplete: true, known: new Map(known) };
  const judged = new Map(plies.map((_, ply) => [ply, found]));
  return aboutCourse(match, judged);
}"""


@pytest.mark.parametrize(
    ("plies", "known", "winner", "said"),
    [
        ([{"name": "a9", "value": 0.1, "best": F6 | {"value": 0.3}, "grade": None}], [], 0, "No mistakes."),
        (
            [
                {"name": "a9", "value": 0.1, "best": F6 | {"value": 0.2}, "grade": None},
                {"name": "c9", "value": -0.2, "best": F6 | {"value": 0.1}, "grade": None},
            ],
            [],
            1,
            "No clear mistake; move 2, c9, cost most (better: f6).",
        ),
        ([{"name": "f6", "value": 0.1, "best": F6 | {"value": 0.1}, "grade": None}], [], 1, "No clear mistake."),
        ([{"name": "a9", "value": None, "best": None, "grade": None}], [], 0, "No mistakes; 1 move not judged."),
        ([{"name": "a9", "value": -1, "best": F6 | {"value": 1}, "grade": "blunder"}], [], 1, "1 blunder."),
    ],
)
def test_a_lost_match_has_no_praise_and_what_was_not_judged_is_said(
    page: Page, plies: list[dict[str, Any]], known: list[Any], winner: int, said: str
) -> None:
    visit(page)
    assert page.evaluate(COURSE, [plies, known, winner]) == said
