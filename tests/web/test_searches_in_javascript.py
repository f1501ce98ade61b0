"""The searches of exported pages, run by node, in a game in which a player moves again after closing a box."""

import json
import random
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest

from selfplay.compute.positions import pack
from selfplay.web.export_page import rules_of
from tests.support.dots import Dots
from tests.support.runs import PROJECT

LEFT = 5
"""The number of edges that are not drawn in the positions that are searched."""

SCRIPT = """
import { readFileSync } from "node:fs";
import { Game } from "./game.js";
import { searched } from "./search.js";
import { treeSearched } from "./tree_search.js";

const { description, matches } = JSON.parse(readFileSync(0, "utf8"));
const logits = new Array(description.num_actions).fill(0);
const agent = { value: () => 0, evaluation: () => ({ value: 0, logits }) };
const rule = { name: "puct", c_init: 1.25, c_base: 19652, unvisited: 0 };
const games = [{ win: 1, point: 0 }, { win: 0, point: 1 }].map((ends) => new Game({ ...description, ends }));
const found = matches.map((actions) => {
  const state = actions.reduce((before, action) => games[0].step(before, action), games[0].start());
  const [results, leads] = games.map((game) => searched(game, agent, state, {}));
  const { action: chosen, values, proved } = treeSearched(games[0], agent, rule, state, {});
  const known = values.flatMap((value, action) => (proved[action] ? [[action, value]] : []));
  return { player: state.player, results, leads, chosen, known };
});
console.log(JSON.stringify(found));
"""

GAME = Dots()


@cache
def lead_of(position):
    """The boxes by which the player to move leads at the end, if both draw the best edges."""
    if GAME.rules.is_terminal(position):
        return int(GAME.rules.margin(position))
    return max(leads_after(position).values())


def leads_after(position):
    """The same by action, for the player who takes it."""
    legal = int(GAME.rules.legal_actions(position))
    after = {action: GAME.rules.play(position, action) for action in range(12) if legal >> action & 1}
    return {a: lead_of(next_) if GAME.rules.moves_again(next_) else -lead_of(next_) for a, next_ in after.items()}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_searches_keep_the_view_of_a_player_who_moves_again(tmp_path):
    for name in ("game", "search", "tree_search", "random"):
        shutil.copy(PROJECT / "selfplay" / "web" / "exported" / f"{name}.js", tmp_path)
    (tmp_path / "rules.js").write_text(rules_of(GAME))
    (tmp_path / "script.mjs").write_text(SCRIPT)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    matches = [random.Random(seed).sample(range(12), 12 - LEFT) for seed in range(20)]
    description = {"initial": str(int(pack(GAME.rules.initial))), "set_up": [], "pass_action": None, "num_actions": 12}
    description |= {"num_squares": GAME.num_squares, "has_stones": True, "shown": [], "limits": []}
    description |= {"mark_fields": [], "number_fields": []}
    given = json.dumps({"description": description, "matches": matches})
    node = subprocess.run(["node", "script.mjs"], input=given, capture_output=True, text=True, check=True, cwd=tmp_path)
    players = set()
    for actions, found in zip(matches, json.loads(node.stdout), strict=True):
        state = GAME.follow(actions)
        leads = leads_after(GAME.positions(state)[0])
        assert found["player"] == int(state.current_player)
        assert {a: value for a, value in enumerate(found["leads"]["values"]) if value is not None} == leads
        results = [value for value in found["results"]["values"] if value is not None]
        np.testing.assert_allclose(results, np.sign(list(leads.values())), atol=1e-4)
        assert found["leads"]["isExact"]
        assert found["results"]["isExact"]
        assert np.sign(leads[found["chosen"]]) == np.sign(max(leads.values()))
        assert found["chosen"] in dict(found["known"])
        assert all(np.sign(leads[action]) == value for action, value in found["known"])
        players.add((found["player"], len(actions) % 2))
    assert len(players) == 2  # in some of the positions, a player has moved again
