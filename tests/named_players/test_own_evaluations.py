"""Evaluators of tree search, and evaluations of alpha-beta, in a file of one's own: those of docs/alphazero.md."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from selfplay.errors import ConformanceError, SettingError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.mcts import MctsPlayer
from selfplay.settings.common import modules_in
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.play_matches import play_match_series
from tests.support.doc_pages import write_module
from tests.support.wheels import install_entry_points

GAME = make_game("tictactoe")
PAGE = "alphazero.md"

FAULTY = """
from selfplay import bit_count, rule


@rule
def too_high(p):
    return bit_count(p.own) / 2


@rule
def late(p):
    return 0.5 if bit_count(p.own) < 3 else undefined


class Broken:
    def __init__(self, game):
        pass

    def evaluate(self, state):
        return 1 / 0


class Nothing:
    def __init__(self, game):
        pass
"""


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on the import path with the modules corners, even and faulty."""
    folder = tmp_path_factory.mktemp("own")
    write_module(folder, PAGE, "def lead(", "corners.py")
    write_module(folder, PAGE, "class Even:", "even.py")
    (folder / "faulty.py").write_text(FAULTY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    for name in ("corners", "even", "faulty"):
        sys.modules.pop(name, None)


def value_at(text: str, *moves: str) -> float:
    """The value that the evaluation inside the player with this name gives a position to the player to move."""
    search = make_player(text, GAME).search
    assert search.parts.evaluate is not None, "only for evaluators of batches"
    return float(search.parts.evaluate(GAME.state_after(moves)).value)


def test_a_class_is_called_with_the_game_and_the_argument() -> None:
    assert value_at("mcts:even:Even?simulations=2") == 0
    assert value_at("mcts:even:Even:-0.25?simulations=2") == -0.25


def test_an_installed_package_offers_an_evaluator_and_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = ("[selfplay.mcts_evaluators]\neven = even:Even\n", "[selfplay.evaluations]\ncorners = corners:lead\n")
    install_entry_points(tmp_path, "".join(groups))
    monkeypatch.syspath_prepend(tmp_path)
    assert value_at("mcts:even:0.5?simulations=2") == 0.5
    assert make_player("search:negascout?evaluation=corners", GAME).searcher.evaluation.name == "corners"


def test_a_rule_values_positions_in_alpha_beta_and_in_tree_search(tmp_path: Path) -> None:
    # X in the middle: a search of one ply prefers the lowest corner.
    state = GAME.state_after(["1,1"])
    searcher = make_player("search:minimax?depth=1&evaluation=corners:lead", GAME).searcher
    assert (searcher.search(state, 1).action, searcher.search(state, 1).value) == (0, 0.25)
    player = make_player("mcts:corners:lead?simulations=9", GAME)
    assert isinstance(player, MctsPlayer)
    # Priors are softmax(values / 0.1): a corner has exp(2.5) times the prior of another square.
    priors = player.search.search(state).priors[0]
    torch.testing.assert_close(priors[2] / priors[1], torch.tensor(2.5, dtype=priors.dtype).exp())
    overrides = ["first='mcts:corners:lead?simulations=9'", "second='search:minimax?depth=1&evaluation=corners:lead'"]
    settings = compose_settings_of(MatchSettings, "matches", [*overrides, "matches=2", f"run_dir={tmp_path}"])
    assert play_match_series(settings).matches == 2


def test_a_name_inside_a_name_names_its_module() -> None:
    assert list(modules_in(["mcts:even:Even:1?rule=puct", "search:minimax?evaluation=corners:lead"])) == [
        "even",
        "corners",
    ]
    assert list(modules_in(["mcts:level:3", "other:KIND:8"])) == ["other"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mcts:faulty:too_high", "'faulty:too_high' must give numbers from -1 to 1, not 1.5 .*line 5, in too_high"),
        ("search:minimax?evaluation=faulty:late", "name 'undefined' is not defined .*faulty.py, line 12, in late"),
        ("mcts:faulty:Nothing", "evaluator Nothing: has no method evaluate"),
        ("search:minimax?evaluation=faulty:Nothing", "is neither a rule nor an object with name"),
        ("mcts:faulty:absent", "evaluator 'faulty:absent' cannot be imported: module 'faulty' has no attribute"),
        ("mcts:even:Even:x", "evaluator 'even:Even:x': ValueError: could not convert .*even.py, line 11, in __init__"),
        ("mcts:even:Even?symmetries=true", "remove symmetries; an evaluator of your own has no such option"),
        ("mcts:even:Even?prior_temperature=1", "remove prior_temperature; it gives logits of its own"),
        ("mcts:no_such_module:Even", "write mcts:EVALUATOR; choose EVALUATOR from rollouts"),
        ("search:minimax?evaluation=no_such_module:lead", "unknown evaluation 'no_such_module:lead'; choose from"),
    ],
)
def test_what_cannot_evaluate_is_refused_in_one_line(text: str, reason: str) -> None:
    with pytest.raises((SettingError, ConformanceError), match=reason) as refused:
        make_player(text, GAME)
    assert "\n" not in str(refused.value)


def test_an_error_in_an_evaluator_is_one_line_with_its_file() -> None:
    player = make_player("mcts:faulty:Broken?simulations=2", GAME)
    with pytest.raises(SettingError, match=r"evaluator 'Broken': ZeroDivisionError: .*faulty.py, line 20, in evaluate"):
        player.search.search(GAME.init())
