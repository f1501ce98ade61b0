"""The page in a browser, with a game and an opponent from outside the package."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.browsing import PATIENCE_MS, choose, settled, visit
from tests.web.test_server import serving

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
        context.close()
