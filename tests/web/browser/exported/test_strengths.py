"""The strengths of exported pages are the players that have these names in the library."""

from collections.abc import Callable
from itertools import product

import pytest
import torch
from playwright.sync_api import Page

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.named_players.names import parse_name
from selfplay.named_players.strengths import STRENGTHS, strengths
from selfplay.players.mcts import MctsPlayer
from tests.web.browser.exported.pages import positions_of_random_matches, rows_of

CANDIDATES = """
async ({ positions, strength }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { Strength } = await import("./local/strengths.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  const player = new Strength(description.ways[strength], description, game, agent);
  return positions.map(([packed, seat]) => {
    return player.candidates({ position: game.rules.unpacked(BigInt(packed)), player: seat });
  });
}
"""


@pytest.mark.parametrize("game", ["tictactoe", "connect_four", pytest.param("othello", marks=pytest.mark.slow)])
def test_strengths_are_the_same_players_as_in_the_library(
    game: str, exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(address(game))
    state = positions_of_random_matches(make_game(game), 100)
    for strength in STRENGTHS:
        found = exported.evaluate(CANDIDATES, {"positions": rows_of(state), "strength": strength})
        player = make_player(strength, game).unwrapped
        policy = player.policy(state)
        assert policy is not None
        expected = [row.nonzero()[:, 0].tolist() for row in policy]
        # Sums of numbers are rounded in another order, so that a value may be just within or beyond the slack.
        assert sum(one == other for one, other in zip(found, expected, strict=True)) >= 98, strength
        assert exported.evaluate(
            "(strength) => fetch('local/game.json').then((it) => it.json()).then((it) => it.ways[strength].epsilon)",
            strength,
        ) == (parse_name(strengths(make_game(game))[strength]).options["epsilon"] or 0)


TREES = """
async ({ positions, strength, ply }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { drawsOf } = await import("./local/random.js");
  const { TreeStrength } = await import("./local/strengths.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  const player = new TreeStrength(description.ways[strength], description, game, agent);
  return positions.map(([packed, seat], match) => {
    const state = { position: game.rules.unpacked(BigInt(packed)), player: seat };
    const draws = drawsOf(BigInt(description.key), match, ply);
    return { visits: player.searched(state, draws).visits, action: player.act(state, draws) };
  });
}
"""


@pytest.mark.parametrize(
    ("game", "strength"),
    [
        ("breakthrough", "medium"),
        *(
            pytest.param(game, strength, marks=pytest.mark.slow)
            for game, strength in product(("gomoku", "go_7x7"), ("medium", "hard"))
        ),
    ],
)
def test_strengths_that_search_trees_are_the_same_players_as_in_the_library(
    game: str, strength: str, exported: Page, address: Callable[[str], str]
) -> None:
    exported.goto(address(game))
    ply, state = 3, positions_of_random_matches(make_game(game), 20)
    found = exported.evaluate(TREES, {"positions": rows_of(state), "strength": strength, "ply": ply})
    player = make_player(strength, game).unwrapped
    assert isinstance(player, MctsPlayer)
    draws = Draws(stream_key(0, 0, Activity.VERSUS_PERSON), torch.arange(20), ply)
    visits = player.search.search(state, draws).visits.tolist()
    actions = player.act(state, draws).tolist()
    expected = [{"visits": row, "action": action} for row, action in zip(visits, actions, strict=True)]
    # With a network, rounding may decide a close choice.
    assert sum(one == other for one, other in zip(found, expected, strict=True)) >= (20 if strength == "medium" else 18)


@pytest.mark.slow
def test_one_of_several_wins_at_once_is_drawn_as_in_the_library(exported: Page, address: Callable[[str], str]) -> None:
    exported.goto(address("gomoku"))
    game, copies = make_game("gomoku"), 20
    state = game.init()
    for action in (30, 0, 31, 2, 32, 4, 33, 6):
        state = game.step(state, torch.tensor([action]))
    state = state.select(torch.zeros(copies, dtype=torch.int64))
    found = exported.evaluate(TREES, {"positions": rows_of(state), "strength": "hard", "ply": 8})
    draws = Draws(stream_key(0, 0, Activity.VERSUS_PERSON), torch.arange(copies), 8)
    expected = make_player("hard", game).act(state, draws).tolist()
    assert set(expected) == {29, 34}
    assert [one["action"] for one in found] == expected
