"""Matches on exported pages are those of the library."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.installation import PACKAGE_FOLDER
from selfplay.runs.levels import agent_of_level
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.export_page import export_page
from tests.web.browser.browsing import settled
from tests.web.browser.exported.pages import (
    POLICY,
)


@pytest.mark.slow
def test_a_match_by_clicks_is_one_of_the_library(exported: Page, address: Callable[[str], str], tiny_run: Path) -> None:
    game, player = make_game("tictactoe"), agent_of_level(tiny_run).player()
    exported.goto(f"{address('tictactoe')}#play/tictactoe?opponent=level-3&person=first")
    settled(exported, 0)
    expect(exported.get_by_text("python -m http.server")).to_be_hidden()
    expect(exported.get_by_label("Kind of opponent")).to_have_text("BeginnerEasyMediumHardLevel 3Level 3, 0.3 sRandom")
    expect(exported.locator("#proof")).to_be_hidden()
    while (legal := exported.locator("#board .legal")).count():
        legal.last.click()
        settled(exported)
    actions = game.read_transcript(parse_qs(urlparse(exported.url).fragment.partition("?")[2])["moves"][0])
    state, draws = game.init(), Draws(0, torch.tensor([0]), 0)
    for ply, action in enumerate(actions):
        assert ply % 2 == 0 or action == int(player.act(state, draws))
        state = game.step(state, torch.tensor([action]))
    result = {1: "You win.", 0: "A draw.", -1: "You lose."}[int(state.returns)]
    expect(exported.locator("#status")).to_contain_text(result)
    exported.reload()
    settled(exported, len(actions))
    expect(exported.locator("#status")).to_contain_text(result)
    exported.get_by_role("tab", name="Analyse").click()
    exported.get_by_role("button", name="One move back").click()
    expect(exported.locator("#board .value")).to_have_count(9 - len(actions) + 1)
    exported.get_by_role("button", name="Play on from here").click()
    settled(exported)


@pytest.mark.slow
def test_moves_of_breakthrough_are_written_as_each_player_makes_them(
    exported: Page, address: Callable[[str], str]
) -> None:
    played = "opponent=pretrained&person=second&moves=c2c3+b3b4+c3d4"
    exported.goto(f"{address('breakthrough')}#play/breakthrough?{played}")
    settled(exported, 3)
    expect(exported.locator("#plies .move")).to_have_text(["c2c3", "b4b3", "c3d4"])
    expect(exported.locator(".cell.origin")).to_have_accessible_name("c3, empty, left by the last move")
    exported.get_by_role("button", name="Hint").click()
    expect(exported.locator("#status")).to_have_text(re.compile(" would play ([a-e])[45][a-e][34] here"))
    exported.get_by_role("gridcell", name="e5, O").click()
    exported.get_by_role("gridcell", name="d4, X").click()
    settled(exported, 5)
    assert "moves=c2c3+b4b3+c3d4+e5d4+" in exported.url


@pytest.mark.slow
def test_the_agents_of_gomoku_and_go_reply(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('gomoku')}#play/gomoku?opponent=hard&person=first")
    expect(exported.get_by_label("Kind of opponent")).to_have_text(
        "BeginnerEasyMediumHardStrongestPretrainedPretrained, 0.3 sRandom"
    )
    settled(exported, 0)
    exported.get_by_role("gridcell", name="e5").click()
    settled(exported, 2)
    # O has to close a line of four.
    exported.goto(f"{address('gomoku')}#play/gomoku?opponent=pretrained-search&person=first&moves=e5+a5+d5+a9+c5+i1+b5")
    settled(exported, 8)
    expect(exported.locator("#plies .move").last).to_have_text("f5")
    exported.goto(f"{address('go_7x7')}#play/go_7x7?opponent=pretrained-search&person=first&moves=D4")
    settled(exported, 2)
    expect(exported.locator("#status")).to_contain_text("Pretrained, 0.3 s plays ")
    # Records have their own rules, which the page may not have.
    exported.get_by_role("tab", name="Analyse").click()
    exported.get_by_text("Copy, save or load").click()
    exported.locator("#moves").fill("(;GM[1]FF[4]SZ[7]KM[5.5]HA[2]AB[ec][ce]PL[W];W[dd])")
    exported.get_by_role("button", name="Load").click()
    expect(exported.locator("#error")).to_have_text(
        "An exported page reads only the moves themselves; selfplay web reads files of other programs."
    )
    settled(exported, 2)


@pytest.mark.slow
def test_numbers_choose_columns_in_connect_four(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('connect_four')}#play/connect_four?opponent=random&person=first")
    settled(exported, 0)
    exported.keyboard.press("7")
    settled(exported, 2)
    expect(exported.locator("[data-square='41'] .disc.red")).to_have_count(1)


@pytest.mark.slow
def test_seats_are_swapped_after_a_match_and_the_score_is_kept(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('tictactoe')}#play/tictactoe?opponent=medium&person=first")
    settled(exported, 0)
    while (legal := exported.locator("#board .legal")).count():
        legal.last.click()
        settled(exported)
    score = exported.locator("#score")
    expect(score).to_have_text(re.compile(r"^You (1 : 0 Medium|0 : 1 Medium|0 : 0 Medium, 1 drawn)$"))
    before = score.inner_text()
    exported.get_by_role("button", name="Rematch").click()
    settled(exported, 1)
    expect(exported.get_by_role("radio", name="Second")).to_be_checked()
    expect(score).to_have_text(before)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "level"), [("tictactoe", 3), (POLICY, 1)])
def test_the_search_finds_the_win(page: str, level: int, exported: Page, address: Callable[[str], str]) -> None:
    """O completes the middle column, after X has completed nothing."""
    played = f"opponent=level-{level}-search&person=first&moves=0,0 1,1 2,2 0,1 1,2"
    exported.goto(f"{address(page)}#play/tictactoe?{played}")
    settled(exported, 6)
    expect(exported.locator("#moves")).to_have_value("0,0 1,1 2,2 0,1 1,2 2,1")
    expect(exported.locator("#status")).to_contain_text("You lose.")


@pytest.mark.slow
def test_the_judge_of_an_exported_page_solves_the_end_and_a_hint_agrees_with_it(
    exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(f"{address('tictactoe')}#play/tictactoe?opponent=easy&person=both&moves=0,0+1,1+2,2+0,1+2,1")
    settled(exported, 5)
    # The other squares lose. Four plies are searched to the end in the time, also on a busy machine.
    exported.get_by_role("button", name="Hint").click()
    expect(exported.locator("#status")).to_contain_text("Perfect play: 2,0 draws. Best line: 2,0 0,2 ")
    expect(exported.locator(".cell.hinted")).to_have_attribute("data-square", "6")
    exported.get_by_role("tab", name="Analyse").click()
    expect(exported.locator("#board .value", has_text="win")).to_have_count(0)
    expect(exported.locator("#board .cell.best")).to_have_count(1)


@pytest.mark.slow
def test_a_page_that_is_opened_as_a_file_says_what_to_do(browser: Browser, tmp_path: Path, tiny_run: Path) -> None:
    export_page(ExportPageSettings(str(tiny_run), GameSettings("tictactoe"), output_dir=str(tmp_path)))
    for file in (tmp_path / "index.html", PACKAGE_FOLDER / "web" / "page" / "index.html"):
        page = browser.new_page()
        page.goto(file.as_uri())
        expect(page.get_by_role("alert").get_by_text("python -m http.server")).to_be_visible()
        page.close()


@pytest.mark.slow
def test_who_closes_a_box_moves_again(exported: Page, address: Callable[[str], str]) -> None:
    game, moves = "dots_and_boxes", "b1+d1+a2+b3"
    exported.goto(f"{address(game)}#play/{game}?opponent=random&person=first&moves={moves}")
    settled(exported, 4)
    exported.get_by_role("gridcell", name="c2, empty").click()
    settled(exported, 5)
    expect(exported.get_by_role("gridcell", name="b2, X")).to_have_count(1)
    expect(exported.get_by_role("gridcell", name="c2, empty, line, last move")).to_have_count(1)
    expect(exported.locator("#status")).to_contain_text("Your turn")
    exported.get_by_role("gridcell", name="e4, empty").click()
    settled(exported)
    assert f"moves={moves}+c2+e4+" in exported.url


KING_AND_JUMP = (
    "10-15+24-19+15x24+28x19+11-15+19x10+6x15+21-17+15-19+23x16+12x19+22-18+7-11+26-22+9-13+18-14+11-15+27-23+19x26+"
    "30x23+5-9+14x5+15-19+23x16+2-7+32-28+1-6+31-27+6-10+25-21+8-11+28-24+11x20+5-1+4-8+22-18+13x22+27-23+20x27+1-6+"
    "10-15+18x11"
)
"""White has a king, and has just jumped with a man that must jump on, to 2 or to 4."""


@pytest.mark.slow
def test_a_jump_goes_on_with_the_same_piece_and_kings_are_marked(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(f"{address('draughts')}#play/draughts?opponent=random&person=second&moves={KING_AND_JUMP}")
    settled(exported, 42)
    expect(exported.get_by_role("gridcell", name="6, white, king")).to_have_text("K")
    expect(exported.locator(".cell[aria-selected=true]")).to_have_accessible_name("11, white, last move")
    expect(exported.locator(".cell.legal")).to_have_count(2)
    exported.get_by_role("gridcell", name="4, empty", exact=True).click()
    settled(exported)
    assert f"{KING_AND_JUMP}+11x4+" in exported.url


@pytest.mark.slow
def test_a_mill_removes_a_stone_by_a_click(exported: Page, address: Callable[[str], str]) -> None:
    game, moves = "nine_mens_morris", "d6+d2+b6+b4+f6"
    exported.goto(f"{address(game)}#play/{game}?opponent=random&person=first&moves={moves}")
    settled(exported, 5)
    expect(exported.locator(".cell.taken")).to_have_count(2)
    exported.get_by_role("gridcell", name="b4, O, can be removed").click()
    settled(exported, 7)
    assert f"moves={moves}+b4+" in exported.url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "points", "result"),
    [
        ("Dots", ["0", "1"], "Second wins. Boxes: first 1, second 3."),
        ("LeadOnly", ["", "+1"], "Second wins. The lead in boxes is 2."),
    ],
)
def test_points_are_shown_where_they_are_not_stones(
    exported: Page, address: Callable[[str], str], name: str, points: list[str], result: str
) -> None:
    game, moves = f"tests.support.dots:{name}", "c2+b5+e4+a2+a4+d3+b3+d5+b1"
    for played in (moves, f"{moves}+e2+c4+d1"):
        exported.goto("about:blank")
        exported.goto(f"{address(game)}#play/{game}?opponent=random&person=both&moves={played}")
        settled(exported)
        if played == moves:
            shown = [exported.locator(f"#{place} .count") for place in ("above", "below")]
            assert ["".join(one.all_inner_texts()) for one in shown] == points
    expect(exported.locator("#status")).to_contain_text(result)
