"""Compares the rules of a game in JavaScript, as exported pages run them, with the rules in Python."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from random import Random
from typing import Any

from selfplay.compute.positions import pack
from selfplay.errors import ConformanceError, shortened
from selfplay.games import Game
from selfplay.games.conformance import single_match
from selfplay.games.single_positions import legal_numbers
from selfplay.web.javascript_values import NUMBER
from selfplay.web.rules_in_javascript import javascript_of

MATCHES = 4
MOST_POSITIONS = 400
MOST_CALLS = 50
"""About how many actions are compared in each position."""

ANSWERS = """
const values = (given) => Array.isArray(given) ? given.flatMap(values) : [String(BigInt(given))];
const results = [];
for (const [text, calls] of questions) {
  const position = unpacked(BigInt(text));
  for (const [name, ...given] of calls) {
    const result = name === "observed" ? packedShown(position) : rules[name](position, ...given.map(BigInt));
    results.push(values(name === "play" ? packed(result) : result));
  }
}
console.log(JSON.stringify(results));
"""


def compare_in_javascript(game: Game) -> str | None:
    """Why the rules were not compared in positions of random matches; None if they were, and agree.

    Raises:
        ConformanceError: a rule gives something else in JavaScript.
        SettingError: a rule cannot be translated.
    """
    kind = game.rules.position
    rules = {name: rule for name, rule in game.rules._asdict().items() if callable(rule)}
    code = javascript_of(
        {name: (rule, [kind, NUMBER] if name == "play" else [kind]) for name, rule in rules.items()}, kind
    )
    node = shutil.which("node")
    if node is None:
        return "node is not installed"
    asked = [(position, list(_calls(game, position))) for position in _positions(game)]
    questions = json.dumps([[str(int(pack(position))), calls] for position, calls in asked])
    script = f"{code}\nconst rules = {{ {', '.join(rules)} }};\nconst questions = {questions};\n{ANSWERS}"
    ran = subprocess.run([node, "--input-type=module"], input=script, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise ConformanceError(f"{game.name}: rules in JavaScript: {shortened(ran.stderr.strip().splitlines()[-1])}")
    found = iter(json.loads(ran.stdout))
    for position, calls in asked:
        for name, *given in calls:
            right, result = _values(rules[name](position, *given)), list(map(int, next(found)))
            if result != right:
                call = f"{name}({', '.join(map(str, (position, *given)))})"
                reason = f"{game.name}: {call} is {result} in JavaScript and {right} in Python"
                raise ConformanceError(reason, rules[name])
    return None


def _positions(game: Game) -> list[Any]:
    random = Random(0)
    positions = [position for _ in range(MATCHES) for position in single_match(game, random)]
    return positions[:: -(-len(positions) // MOST_POSITIONS)]


def _calls(game: Game, position: Any) -> Iterator[tuple[str, int] | tuple[str]]:
    """The rules to call, and their further arguments."""
    rules = game.rules
    over = rules.is_terminal(position)
    yield ("is_terminal",)
    yield ("legal_actions",)
    if over:
        yield ("return_to_move",)
    else:
        yield from (("play", action) for action in legal_numbers(game, position)[:MOST_CALLS])
    others = ("margin", "points", "owned", "safe", "sensible", "moves_again", "observed")
    yield from ((name,) for name in others if getattr(rules, name) is not None)


def _values(result: Any) -> list[int]:
    """What a rule has returned, as numbers."""
    if isinstance(result, tuple) and not hasattr(result, "places"):
        return list(map(int, result))
    return [int(pack(result)) if isinstance(result, tuple) else int(result)]
