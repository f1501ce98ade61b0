"""What the page makes of the data of a match: lines that have won, captured and moved stones, results, grades."""

import random
from pathlib import Path

import numpy as np
import pytest

from selfplay.games import make_game
from selfplay.players.estimates import Estimate, grade_of
from selfplay.players.player import RandomPlayer
from selfplay.playing.match_description import describe
from tests.web.page_views import data_after, needs_node, page_views, run_in_page, served, session_after

pytestmark = needs_node

OVERLINE = "a1 a9 b1 c9 d1 e9 e1 g9 f1 i9 c1"
EXACTLY_FIVE = f"{OVERLINE} a8 a4 c8 b4 e8 c4 g8 d4 i8 e4"
LINES = [
    ("tictactoe", "0,0 0,1 1,1 0,2 2,2", [0, 4, 8]),
    ("connect_four", "1212121", [14, 21, 28, 35]),
    ("connect_four", "12233434464", [17, 23, 29, 35]),
    ("othello", "f5d6", []),
    # Black closes the gap of b b . b b b, and then has five on another row.
    ("gomoku", OVERLINE, [*range(72, 78)]),
    ("gomoku_exact", OVERLINE, []),
    ("gomoku_exact", EXACTLY_FIVE, [*range(45, 50)]),
]


def test_the_line_that_has_won_is_known(tmp_path: Path) -> None:
    games = {name: make_game(name) for name, _, _ in LINES if name != "gomoku_exact"}
    games["gomoku_exact"] = make_game("gomoku", exact=True)
    views = page_views(tmp_path, [(games[name], data_after(games[name], moves)) for name, moves, _ in LINES])
    assert [sorted(view["winning_squares"]) for view in views] == [line for *_, line in LINES]


def test_the_pictures_of_rules_show_the_lines_and_chains_of_their_captions(tmp_path: Path) -> None:
    games = [make_game(name) for name in ("tictactoe", "connect_four", "gomoku", "hex", "othello")]
    views = page_views(tmp_path, [(game, data_after(game, game.presentation.example)) for game in games])
    for game, view in zip(games, views, strict=True):
        caption = game.presentation.example_caption
        assert bool(view["winning_squares"]) == ("diagonal" in caption or "connected" in caption), game.name


NEIGHBOURS = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, 0), (1, -1))


def is_connected(cells: set[int], width: int, *, downwards: bool) -> bool:
    """Whether stones on these cells connect the top with the bottom, or left with right."""
    return bool(cells) and shortest(cells, width, downwards=downwards) is not None


def shortest(cells: set[int], width: int, *, downwards: bool) -> int | None:
    """The number of cells of a shortest chain, by adding one layer of neighbours after the other; None without one."""
    axis = 0 if downwards else 1
    layer = {divmod(cell, width) for cell in cells if divmod(cell, width)[axis] == 0}
    found, length = set(layer), 1
    while layer and not any(cell[axis] == width - 1 for cell in layer):
        around = {(row + down, column + right) for row, column in layer for down, right in NEIGHBOURS}
        layer = {
            one for one in around - found if min(one) >= 0 and max(one) < width and width * one[0] + one[1] in cells
        }
        found |= layer
        length += 1
    return length if layer else None


@pytest.mark.parametrize("width", [3, 5, pytest.param(8, marks=pytest.mark.slow)])
def test_the_marked_chain_is_connected_belongs_to_the_winner_and_has_no_cell_too_many(
    width: int, tmp_path: Path
) -> None:
    game, draws = make_game("hex", width), random.Random(width)
    cells = [game.action_to_string(cell) for cell in range(width * width)]
    matches = []
    for _ in range(30):
        draws.shuffle(cells)
        state, whole = game.init(), 0
        while not bool(state.terminated):
            state, whole = game.step(state, cells[whole]), whole + 1
        matches += [(game, data_after(game, " ".join(cells[:count]))) for count in (whole - 1, whole)]
    views = page_views(tmp_path, matches)
    assert all(view["winning_squares"] == [] for view in views[::2])
    for view in views[1::2]:
        chain, winner = set(view["winning_squares"]), view["winner"]
        stones = {cell for cell, stone in enumerate(view["squares"]) if stone == 1 - 2 * winner}
        assert chain <= stones
        assert is_connected(chain, width, downwards=winner == 0)
        # None of its cells can be left out, and no chain is shorter.
        assert not any(is_connected(chain - {cell}, width, downwards=winner == 0) for cell in chain)
        assert len(chain) == shortest(stones, width, downwards=winner == 0)


POINTS = """
import { readFileSync } from "node:fs";
import { viewOf } from "./view.js";
import { pointsText } from "./words.js";

const shown = JSON.parse(readFileSync(0, "utf8"));
const textsOf = ({ game, data }) => [0, 1].map((seat) => pointsText(game, viewOf(game, data), seat));
console.log(JSON.stringify(shown.map(textsOf)));
"""


def test_points_are_shown_once_they_mean_something(tmp_path: Path) -> None:
    go, dots = make_game("go", 5, komi=2.5), make_game("dots_and_boxes")
    matches = [(go, "C3"), (go, "C3 pass pass"), (go, "C3 A1 C2 A2 C1 A3 C4 A4 C5"), (dots, "a2")]
    assert run_in_page(
        tmp_path, POINTS, served(tmp_path, [(game, data_after(game, moves)) for game, moves in matches])
    ) == [
        ["", ""],
        ["25", "2.5"],
        ["+8.5", ""],
        ["0", "0"],
    ]


def test_captured_stones_are_counted_by_player(tmp_path: Path) -> None:
    game, moves = make_game("go_5x5"), ["A1", "A2", "B1", "B2", "D1", "E5", "C2", "C1", "B1", "pass", "A1"]
    views = page_views(tmp_path, [(game, data_after(game, " ".join(moves[:count]))) for count in (7, 8, 11)])
    assert [view["captured"] for view in views] == [[0, 0], [0, 2], [1, 2]]


def test_stones_that_are_placed_moved_turned_and_marked_are_known(tmp_path: Path) -> None:
    matches = [("othello", "f5"), ("breakthrough", "c2c3"), ("connect_four", "44"), ("dots_and_boxes_3x3", "b1")]
    games = [make_game(name) for name, _ in matches]
    views = page_views(
        tmp_path, [(game, data_after(game, moves)) for game, (_, moves) in zip(games, matches, strict=True)]
    )
    last = [view["plies"][-1] for view in views]
    assert [(ply["square"], ply["origin"], ply["turned"]) for ply in last] == [
        (37, None, [36]),
        (12, 17, []),
        (31, None, []),
        (1, None, []),
    ]
    assert [view["squares"][ply["square"]] for view, ply in zip(views[:3], last[:3], strict=True)] == [1, 1, -1]
    assert [view["marks"] is None for view in views] == [True, True, True, False]
    assert views[3]["marks"][1] == "line"


def test_marks_of_squares_without_stones_and_numbers_are_known(tmp_path: Path) -> None:
    game = make_game("examples.walls:Walls")
    (view,) = page_views(tmp_path, [(game, data_after(game, "d4"))])
    assert [view["marks"][square] for square in (14, 15)] == ["", "wall"]
    assert view["numbers"] == "own walls 3, opp walls 2"
    assert view["plies"][-1]["square"] == 15


def test_the_sign_of_a_stone_with_a_mark_is_the_letter_of_the_mark(tmp_path: Path) -> None:
    script = """
import { signOf } from "./pieces.js";
const game = { seat_names: ["white", "B"], square_marks: ["king", "kept"], mark_signs: ["K", "E"] };
const marks = ["", "king", "kept", "king, kept"];
console.log(JSON.stringify([0, 1].map((seat) => marks.map((mark) => signOf(game, seat, mark)))));
"""
    assert run_in_page(tmp_path, script) == [["X", "K", "E", "KE"], ["B", "K", "E", "KE"]]


PASSED = "C1 A1 C3 B1 B2 C2"
STANDING = "White wins. Points: black 2, white 11.5, with komi 7.5."
RESULTS = [
    ("tictactoe", "0,0 0,1 1,1 0,2 2,2", "X wins."),
    ("tictactoe", "0,0 1,1 2,2 0,1 2,1 2,0 0,2 1,2 1,0", "A draw."),
    ("go_3x3", f"{PASSED} pass pass", STANDING),
    ("tests.support.dots:Dots", "c2 b5 e4 a2 a4 d3 b3 d5 b1 e2 c4 d1", "Second wins. Boxes: first 1, second 3."),
    ("tests.support.dots:LeadOnly", "c2 b5 e4 a2 a4 d3 b3 d5 b1 e2 c4 d1", "Second wins. The lead in boxes is 2."),
    ("othello", "f5d6", None),
    # White has no disc left.
    (
        "othello",
        "e6 f4 e3 f6 g5 d6 e7 f5 c5",
        "Black wins. Discs: black 64, white 0.",
    ),
]


def test_results_are_told_in_the_words_of_the_library(tmp_path: Path) -> None:
    games = {name: make_game(name) for name, _, _ in RESULTS}
    sessions = [session_after(games[name], moves) for name, moves, _ in RESULTS]
    views = page_views(tmp_path, [(session.game, describe(session)) for session in sessions])
    texts = [text for *_, text in RESULTS]
    assert [view["result"] for view in views] == texts
    assert [session.result_text for session in sessions] == texts


def test_a_pass_that_can_end_the_match_says_how(tmp_path: Path) -> None:
    game = make_game("go_3x3")
    views = page_views(tmp_path, [(game, data_after(game, moves)) for moves in (PASSED, f"{PASSED} pass")])
    warnings = [[one["warning"] for one in view["legal"]] for view in views]
    assert [found[-1] for found in warnings] == [
        f"If the other player passes too, the board is counted. With all stones alive: {STANDING}",
        f"After this pass the board is counted. With all stones alive: {STANDING}",
    ]
    assert all(set(found[:-1]) == {None} for found in warnings)


GRADES = """
import { gradeOfLoss } from "./values.js";

const told = (value, words = null) => ({ value, words });
const results = [0.4, 0.6, 0.8];
console.log(JSON.stringify([
  ...[0.3, 0.4, 0.65, 0.9].map((loss) => gradeOfLoss(results, told(0.5 - loss), told(0.5), { neutral: 0 })),
  gradeOfLoss(results, told(0.3), told(0.5), { neutral: 0.5 }),
  gradeOfLoss([3, 8], told(4, "wins in 5"), told(9, "wins in 1"), { neutral: 0 }),
  gradeOfLoss([3, 8], told(-1, "loses in 9"), told(1, "wins in 9"), { neutral: 0 }),
  gradeOfLoss(results, told(-1, "loses"), told(0.1), { neutral: 0 }),
  gradeOfLoss(results, told(-0.2), told(1, "wins"), { neutral: 0 }),
  gradeOfLoss(results, told(1, "wins"), told(1, "wins"), { neutral: 0 }),
]));
"""


def test_grades_are_those_of_the_library(tmp_path: Path) -> None:
    found = run_in_page(tmp_path, GRADES)
    exact = [("scores", 4.0, 9.0, True), ("scores", -1.0, 1.0, True)]
    cases = [("results", 0.5 - loss, 0.5, False) for loss in (0.3, 0.4, 0.65, 0.9)]
    cases += [("results", 0.6, 1.0, False), *exact]
    assert found[:7] == [grade_of(value, best, kind, is_exact=is_exact) for kind, value, best, is_exact in cases]
    assert found[:7] == [None, "inaccuracy", "mistake", "blunder", "inaccuracy", "inaccuracy", "blunder"]
    assert found[7:] == [None, None, None]


def test_an_estimate_and_a_proof_have_no_label_in_the_library_either() -> None:
    game = make_game("tictactoe")
    values = np.array([0.9, -0.2, 0.1, -0.9, 0.1, 0.2, 0.3, 0.4, 0.5], dtype=np.float32)
    estimate = Estimate(RandomPlayer(game), game.init(), values, False, None, is_exact=False)
    assert [estimate.grade(action) for action in (0, 1, 8)] == [None, "blunder", "inaccuracy"]
    results = np.full_like(values, np.nan)
    results[[0, 3, 4]] = 1, -1, 1
    proved = estimate.with_results(results, are_all=False)
    assert [proved.grade(action) for action in (0, 1, 3, 4)] == [None, None, "blunder", None]


SCALES = """
import { scaleOfPly, valueText } from "./values.js";

const match = { advisers: [0, 1].map(() => ({ neutral: 0, span: 1 })) };
const text = (ply, one) => valueText(one.value, scaleOfPly(match, ply, one));
const [proved, estimated] = [{ seat: 0, value: -1, words: "loses" }, { seat: 0, value: 0.004, words: null }];
const scored = { seat: 0, value: 9, words: "wins in 1" };
const pairs = [[proved, estimated], [proved, proved], [estimated, proved], [scored, scored]];
console.log(JSON.stringify(pairs.map(([ply, one]) => text(ply, one))));
"""


def test_the_best_move_of_a_ply_has_a_scale_of_its_own(tmp_path: Path) -> None:
    assert run_in_page(tmp_path, SCALES) == ["+0.00", "loss", "loss", "+9"]


@needs_node
def test_only_a_share_of_0_or_1_is_shown_as_such(tmp_path: Path) -> None:
    script = """
import { shareText } from "./charts.js";
console.log(JSON.stringify([0, 1e-9, 0.5, 0.99998, 1].map(shareText)));
"""
    assert run_in_page(tmp_path, script) == ["0", "<0.0001", "0.5000", ">0.9999", "1"]
