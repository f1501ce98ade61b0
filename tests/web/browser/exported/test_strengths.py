"""The strengths of exported pages are the players that have these names in the library, where these look as deep."""

from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from tests.web.browser.exported.pages import positions_of_random_matches, rows_of

ACTIONS = """
async ({ positions, strength, ply }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { drawsOf } = await import("./local/random.js");
  const { Strength } = await import("./local/strengths.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  const player = new Strength(description.ways[strength], description, game, agent);
  return positions.map(([packed, seat], match) => {
    const state = { position: game.rules.unpacked(BigInt(packed)), player: seat };
    return player.act(state, drawsOf(BigInt(description.key), match, ply));
  });
}
"""
PLY = 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "strength"),
    [
        # Each kind of player, and each strength.
        ("tictactoe", "beginner"),
        ("connect_four", "easy"),
        ("hex_5x5", "medium"),
        ("gomoku", "hard"),
        ("go_7x7", "beginner"),
    ],
)
def test_strengths_are_the_same_players_as_in_the_library(
    game: str, strength: str, exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(address(game))
    made, count = make_game(game), 20
    state = positions_of_random_matches(made, count)
    found = exported.evaluate(ACTIONS, {"positions": rows_of(state), "strength": strength, "ply": PLY})
    draws = Draws(stream_key(0, 0, Activity.VERSUS_PERSON), torch.arange(count), PLY)
    expected = make_player(strength, made).act(state, draws).tolist()
    # Sums of numbers are rounded in another order, so that a draw may fall on the other side of a bound.
    assert sum(one == other for one, other in zip(found, expected, strict=True)) >= count - 2


@pytest.mark.slow
def test_one_of_several_wins_at_once_is_drawn_as_in_the_library(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(address("gomoku"))
    game, copies = make_game("gomoku"), 20
    state = game.init()
    for action in (30, 0, 31, 2, 32, 4, 33, 6):
        state = game.step(state, torch.tensor([action]))
    state = state.select(torch.zeros(copies, dtype=torch.int64))
    found = exported.evaluate(ACTIONS, {"positions": rows_of(state), "strength": "hard", "ply": 8})
    draws = Draws(stream_key(0, 0, Activity.VERSUS_PERSON), torch.arange(copies), 8)
    expected = make_player("hard", game).act(state, draws).tolist()
    assert set(expected) <= {29, 34}
    assert found == expected
