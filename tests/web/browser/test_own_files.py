"""The page in a browser, with a game and an opponent from outside the package."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.web.browser.browsing import PATIENCE_MS, choose, settled, until, visit
from tests.web.test_server import serving

MORRIS = "tests.support.morris"
GAME, PLAYER = "tests.support.pile:Pile", "tests.support.stub_players:FirstLegal"


@pytest.mark.slow
def test_a_match_of_ones_own_game_is_played_against_ones_own_player_and_kept_in_its_address(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(f"game={GAME}", f"opponents=[{PLAYER}]", f"run_dir={tmp_path}") as (address, _):
        context = browser.new_context(base_url=address)
        context.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page = context.new_page()
        visit(page, "/")
        assert page.get_by_label("Game").input_value() == GAME
        choose(page, PLAYER)
        page.locator("#board [data-action='0']").click()
        settled(page, 2)
        visit(page, page.url)
        settled(page, 2)
        expect(page.locator(f"#play[data-game='{GAME}']")).to_have_count(1)
        # The game does not explain itself: its rules are the aim, how a move is written, and the start.
        page.get_by_role("link", name="Rules").click()
        expect(page.get_by_role("img", name="The start of a match.")).to_be_visible()
        expect(page.locator("#rules-text li")).to_have_count(0)
        expect(page.locator("#rules-written")).to_contain_text("a move is written as")
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("game", ["Morris", "AskingMorris", "UntoldMorris"])
def test_stones_are_placed_and_then_moved_and_an_ambiguous_click_asks(
    game: str, browser: Browser, tmp_path: Path
) -> None:
    with serving(f"game={MORRIS}:{game}", f"run_dir={tmp_path}") as (address, _):
        context = browser.new_context(base_url=address)
        context.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page = context.new_page()
        visit(page, f"/#play/{MORRIS}:{game}?opponent=random&person=both")

        def click(point: str) -> None:
            page.get_by_role("gridcell", name=re.compile(f"^{point},")).click()

        for number, point in enumerate(("a3", "b3", "b2", "c1", "c3", "a1"), start=1):
            click(point)
            settled(page, number)
        # The first player has a3, b2 and c3, shown as crosses.
        expect(page.locator(".cell .sign.seat0 path")).to_have_count(3)
        expect(page.locator(".cell .sign.seat1 circle")).to_have_count(3)
        asked = page.get_by_role("group", name="Which move?").get_by_role("button")
        # Without a text, an action is known by its squares.
        to = " to " if game == "UntoldMorris" else ""
        if game == "Morris":
            click("b2")
            expect(page.locator(".cell.legal")).to_have_count(3)
            click("c2")
        else:
            # It is not known which stone is to go, or where to.
            click("b2")
            expect(asked).to_have_count(3)
            click("c2")
            expect(asked).to_have_text([f"c3{to}c2", f"b2{to}c2"])
            asked.nth(1).click()
        settled(page, 7)
        expect(asked).to_have_count(0)
        expect(page.locator("#plies .move").last).to_have_text(f"b2{to}c2")
        for point, stone in {"b2": "empty", "c2": "first", "a3": "first", "c3": "first"}.items():
            expect(page.get_by_role("gridcell", name=f"{point}, {stone}")).to_have_count(1)
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "clicks", "shown_at_once"),
    [
        # A domino covers two squares, and a click says one of them.
        ("domineering:Domineering", ["c4"], {"c4": "empty", "c5": "empty"}),
        ("konane:Konane", ["b4", "d4"], {"b4": "empty", "d4": "X"}),
        ("walls:Walls", ["c4"], {"c4": "empty, wall"}),
    ],
)
def test_only_what_a_move_is_known_to_put_on_a_square_is_shown_before_the_server_answers(
    game: str, clicks: list[str], shown_at_once: dict[str, str], browser: Browser, tmp_path: Path
) -> None:
    with serving(f"game=examples.{game}", f"run_dir={tmp_path}") as (address, _):
        context = browser.new_context(base_url=address)
        context.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page = context.new_page()
        visit(page, f"/#play/examples.{game}?opponent=random&person=both")
        held = list[Route]()
        for square in clicks[:-1]:
            page.get_by_role("gridcell", name=re.compile(f"^{square},")).click()
        page.route("**/api/match", lambda route: held.append(route), times=1)
        page.get_by_role("gridcell", name=re.compile(f"^{clicks[-1]},")).click()
        until(page, lambda: bool(held))
        expect(page.locator(".cell.legal")).to_have_count(0)
        for square, there in shown_at_once.items():
            expect(page.get_by_role("gridcell", name=re.compile(f"^{square}, {there}(,|$)"))).to_have_count(1)
        expect(page.locator("#status")).to_have_text(
            "One moment…" if game.startswith("domineering") else re.compile("to move")
        )
        held[0].continue_()
        settled(page, 1)
        context.close()
