"""Addresses and moves with long repetitions, which a link may have, are read by the page in linear time."""

import json
import shutil
import subprocess
from pathlib import Path

from selfplay.games import make_game
from selfplay.installation import PACKAGE_FOLDER
from selfplay.web.export_page import rules_of
from tests.web.page_views import needs_node

REPETITIONS = 50_000
SIGNS = ("1", "1.", ".", " ", "1. ", " 1", "a", "a1", "a1 ", "?", "#", "#?", ",", "1,", "?moves=", "&", "%", "\n")
STARTS = ("", "#", "#play/go?seed=", "#play/go?dead=", "#play/go?position=", "#story/go?hidden=", "1", "1 ")
LIMIT_MS = 20_000
"""Linear time is below 0.1 s for each text."""

SCRIPT = """
import { readFileSync } from "node:fs";
import { read, readStory } from "./page/address.js";
import { Match } from "./exported/match.js";

const { starts, signs, repetitions } = JSON.parse(readFileSync(0, "utf8"));
const game = { start: () => ({}), numActions: 1 };
const description = { texts: [["a1"], ["a1"]] };
const readers = {
  read,
  readStory,
  moves: (text) => {
    try {
      new Match(description, game, {}, { moves: text });
    } catch (error) {
      if (error.status !== 422) {
        throw error;
      }
    }
  },
};
let slowest = { ms: 0 };
for (const [name, reader] of Object.entries(readers)) {
  for (const start of starts) {
    for (const sign of signs) {
      const text = `${start}${sign.repeat(repetitions)}!`, before = performance.now();
      reader(text);
      const ms = performance.now() - before;
      slowest = ms > slowest.ms ? { ms, name, start, sign } : slowest;
    }
  }
}
console.log(JSON.stringify(slowest));
"""


@needs_node
def test_long_texts_are_read_in_linear_time(tmp_path: Path) -> None:
    for folder in ("page", "exported"):
        shutil.copytree(PACKAGE_FOLDER / "web" / folder, tmp_path / folder)
    (tmp_path / "exported" / "rules.js").write_text(rules_of(make_game("tictactoe")))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "script.mjs").write_text(SCRIPT)
    given = json.dumps({"starts": STARTS, "signs": SIGNS, "repetitions": REPETITIONS})
    node = subprocess.run(
        ["node", "script.mjs"], input=given, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=600
    )
    slowest = json.loads(node.stdout)
    assert slowest["ms"] < LIMIT_MS, slowest
