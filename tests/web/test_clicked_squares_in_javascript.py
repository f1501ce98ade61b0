"""Exported pages find the squares of actions in a position as the server does."""

import random
import shutil
from types import SimpleNamespace

import numpy as np

from selfplay.games.action_names import squares_in_words
from selfplay.games.clicked_squares import ClickedSquares, changes, placed_in_position, squares_in_position
from selfplay.installation import PACKAGE_FOLDER
from tests.web.page_views import needs_node, run_in_page

SCRIPT = """
import { readFileSync } from "node:fs";
import { placedOf, pointedSquares, squaresInWords } from "./data.js";

const asked = JSON.parse(readFileSync(0, "utf8"));
const found = asked.map(({ match, seat, before, after }) => {
  const pointed = pointedSquares(match, seat, before, after, 0);
  const placed = Object.values(placedOf(match, seat, pointed, before, after));
  return [pointed, placed, squaresInWords(match.description, seat, before, after)];
});
console.log(JSON.stringify(found));
"""


@needs_node
def test_the_squares_of_random_changes_are_the_same_in_both_languages(tmp_path):
    for name in ("game", "data"):
        shutil.copy(PACKAGE_FOLDER / "web" / "exported" / f"{name}.js", tmp_path)
    (tmp_path / "rules.js").write_text("")
    draw, asked, expected = random.Random(1), [], []
    for _ in range(2000):
        before = draw.choices([0, 0, 1, -1, 3, 4, 2, 6, 9], k=4)
        after = [*before]
        for square in draw.sample(range(4), draw.randint(1, 3)):
            after[square] = draw.choice([0, 1, -1, 3, 4, 2, 6, 9])
        usual, is_known = draw.choice([[], [0], [1], [0, 1], [2, 3]]), draw.random() < 0.7
        seat, moves = draw.randint(0, 1), draw.random() < 0.5
        has_stones = draw.random() < 0.5
        if not has_stones:
            before, after = ([3 * ((content + 1) // 3) for content in board] for board in (before, after))
        description = {"pointed": [usual], "is_known": [is_known], "has_stones": has_stones}
        description["view"] = {"moves_stones": moves, "square_names": [*"abcd"], "square_marks": ["king", "wall"]}
        asked.append({"match": {"description": description}, "seat": seat, "before": before, "after": after})
        boards = np.array([before]), np.array([after]), np.array([seat])
        (pointed,) = squares_in_position(ClickedSquares([usual], [is_known], moves), [0], changes(*boards))
        (placed,) = placed_in_position([pointed], *boards, moves_stones=moves)
        show = SimpleNamespace(
            game=SimpleNamespace(has_stones=has_stones),
            square_name="abcd".__getitem__,
            shown_marks={"kings": "king", "walls": "wall"},
        )
        expected.append([pointed, [*placed], *squares_in_words(show, *boards)])
    assert run_in_page(tmp_path, SCRIPT, asked) == expected
    assert {len(squares) for squares, *_ in expected} == {0, 1, 2}
    assert {(square is None, content is None) for _, (square, content), _ in expected} == {
        (True, True),
        (False, True),
        (False, False),
    }
