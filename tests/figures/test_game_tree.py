"""The picture of a game tree: its counts are those of the searches, and its limits hold."""

from collections import Counter

import pytest
from PIL import Image

from selfplay.errors import SettingError
from selfplay.figures.game_tree import ELLIPSIS, MINUS, NO_BREAK_SPACE, TIMES, picture_of_searches, tree_of, turns_from
from selfplay.games import make_game
from selfplay.games.payoff_tree import PayoffTree
from selfplay.named_players.evaluations import make_evaluation
from selfplay.playing.analysis import analyse, analysis_report
from selfplay.search.searcher import Searcher, SearchParameters
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run
from tests.search.test_trace import ARTICLE, POINTS
from tests.support.dots import TwoBoxes


def tree_of_article(algorithm):
    game = PayoffTree(ARTICLE)
    searcher = Searcher(game, POINTS, algorithm, SearchParameters(ordered=False, table_bits=0, min_scout_depth=2))
    result, trace = searcher.trace(game.init(), 2)
    return tree_of(trace, result.principal_variation, 2, [3], turns_from(game, game.init()))


def analysed(*overrides):
    return analyse(Run.of(compose_settings_of(AnalysisSettings, "analysis", list(overrides))))


@pytest.mark.parametrize(
    ("algorithm", "visited", "cut", "third"),
    [
        ("minimax", 13, set(), f"{MINUS}4"),
        ("alpha_beta", 11, {(2, 4), (2, 5)}, f"\N{LESS-THAN OR EQUAL TO}{MINUS}4"),
        ("negascout", 15, {(2, 4), (2, 5)}, f"\N{LESS-THAN OR EQUAL TO}{MINUS}4"),
    ],
)
def test_the_tree_of_the_article(algorithm, visited, cut, third):
    nodes = tree_of_article(algorithm)
    assert sum(len(node.visits) for node in nodes.values()) == visited
    # A3 is action 2, B2 and B3 are 4 and 5.
    assert {node for node, data in nodes.items() if not data.visits} == cut
    assert [node for node, data in nodes.items() if data.is_chosen] == [(), (1,), (1, 3)]
    assert [nodes[(action,)].text for action in (0, 1, 2)] == [f"{MINUS}2", f"{MINUS}1", third]


def test_a_value_is_a_bound_only_where_something_was_not_visited():
    # The last reply to A2 shows that it is not better than A1, but no reply is left out.
    game = PayoffTree([[3, 0], [5, 0], [-1, 4]])
    result, trace = Searcher(game, POINTS, "alpha_beta", SearchParameters(ordered=False, table_bits=0)).trace(
        game.init(), 2
    )
    tree = tree_of(trace, result.principal_variation, 2, [3], turns_from(game, game.init()))
    assert [tree[(action,)].text for action in range(3)] == ["0", "0", f"\N{LESS-THAN OR EQUAL TO}{MINUS}1"]


def test_a_player_who_moves_again_looks_for_the_largest_value_again():
    game = TwoBoxes()
    state = game.state_after(["a2", "b1", "b3", "d1", "d3"])
    result, trace = Searcher(game, POINTS, "minimax", SearchParameters(ordered=False, table_bits=0)).trace(state, 2)
    nodes = tree_of(trace, result.principal_variation, 2, [2], turns_from(game, state))
    # c2 closes a box, and e2 then the other; after e2, c2 closes both for the other player.
    centre, side = (game.string_to_action(text) for text in ("c2", "e2"))
    found = {node: (data.text, data.player) for node, data in nodes.items()}
    mine, others = ("+2", 0), (f"{MINUS}2", 1)
    assert found == {(): mine, (centre,): mine, (centre, side): mine, (side,): others, (side, centre): others}


def labels_of_layers(game, state, algorithm="minimax"):
    """What a picture of two plies says at the left of its layers."""
    searcher = Searcher(game, POINTS, algorithm, SearchParameters(ordered=False, table_bits=0))
    searched = {algorithm: searcher.trace(state, 2)}
    named = ("Max", "Min")
    figure = picture_of_searches(searched, lambda node: str(node[-1]), named, turns_from(game, state), 2, [3])
    return [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith(named)]


def test_each_layer_says_who_moves_and_what_that_player_looks_for_unless_both_move_in_it():
    article, boxes = PayoffTree(ARTICLE), TwoBoxes()
    assert labels_of_layers(article, article.init()) == ["Max\nlargest", "Min\nsmallest"]
    assert labels_of_layers(boxes, boxes.state_after(["a2", "b1", "b3", "d1", "d3"])) == ["Max\nlargest"]


@pytest.mark.parametrize(("algorithm", "depth", "breadth"), [("alpha_beta", 2, [1, 2]), ("negascout", 3, [3, 2])])
def test_shown_and_hidden_visits_sum_to_those_of_the_search(algorithm, depth, breadth):
    game = make_game("othello")
    searcher = Searcher(
        game,
        make_evaluation("article", game),
        algorithm,
        SearchParameters(ordered=False, table_bits=0, min_scout_depth=2),
    )
    state = game.state_after(["f5", "d6", "c3"])
    result, trace = searcher.trace(state, 4)
    tree = tree_of(trace, result.principal_variation, depth, breadth, turns_from(game, state))
    shown = sum(len(position.visits) for position in tree.values())
    hidden = sum(position.beneath for position in tree.values())
    assert shown + hidden == result.visited
    assert max(map(len, tree)) == depth
    following = Counter(position.parent for position in tree.values())
    assert all(following[node] <= breadth[min(len(node), len(breadth) - 1)] for node in tree)
    assert sum(position.is_chosen for position in tree.values()) == depth + 1


def test_a_picture_is_1200_pixels_wide_and_reports_the_same_counts(tmp_path):
    file = tmp_path / "tree.png"
    report = analysis_report(analysed("game_tree=article", f"picture.file={file}"))
    assert Image.open(file).width == 1200
    assert [line.split()[1:4] for line in report.splitlines()[-3:]] == [["-1", "A2", n] for n in ("13", "11", "15")]
    assert report.startswith("   B1 B2 B3\nA1 +3 -2 +2\n")


MARKS = {"cut off": "cut off", TIMES: "visited twice", " more": "are not shown", ELLIPSIS: "moves not shown"}
"""Marks, and words of what explains each; moves that are cut off have a mark without letters."""


@pytest.mark.parametrize(
    ("overrides", "explained"),
    [
        (["game_tree=article", "searches=[minimax]"], set()),
        (["game_tree=article"], {"cut off", TIMES}),
        (["game_tree=article", "searches=[minimax]", "picture.breadth=[3,2]"], {" more"}),
        (["game_tree=article", "searches=[alpha_beta]", "picture.breadth=[3,1]"], {" more", ELLIPSIS}),
    ],
)
def test_only_the_marks_that_occur_are_explained(overrides, explained, tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr("selfplay.figures.style.save_figure", lambda figure, path: figures.append(figure))
    analysed(*overrides, f"picture.file={tmp_path}/tree.png")
    (figure,) = figures
    (note,) = figure.texts
    text = note.get_text().replace(NO_BREAK_SPACE, " ").replace("\n", " ")
    assert {mark for mark, words in MARKS.items() if words in text} == explained
    drawn = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {mark for mark in (TIMES, " more", ELLIPSIS) if any(mark in text for text in drawn)} == explained - {
        "cut off"
    }
    figure.draw_without_rendering()
    assert note.get_window_extent().x1 < figure.bbox.x1


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["game_tree.payoffs=[[1,x]]"], r"^payoffs: must be nested lists of numbers"),
        (['game_tree.payoffs=[["3",1],2]'], r"^payoffs: must be nested lists of numbers"),
        (["game_tree=article", "moves=f5"], r"^moves=f5: must be empty with a game tree"),
        (
            [f"game_tree.payoffs={[[0] * 31] * 6}", "picture.file=x.png", "picture.depth=2", "picture.breadth=[40]"],
            r"^picture.file: 186 positions would be side by side, and at most 150 can be drawn; set a smaller",
        ),
        (["picture.breadth=[]"], r"^picture.breadth=\[\]: must be one or more numbers from 1 to 40$"),
    ],
)
def test_what_cannot_be_drawn_or_read_is_refused_in_one_line(overrides, message):
    with pytest.raises(SettingError, match=message):
        analysed(*overrides)
