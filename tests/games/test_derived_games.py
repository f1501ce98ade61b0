"""Games that are derived from another one: what it declares about its rules is not taken for theirs."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from examples.havannah import Havannah
from selfplay.agents.pretrained import find_pretrained
from selfplay.compute.bit_algebra import rule
from selfplay.games import make_game, name_of_game
from selfplay.games.conformance import check_game
from selfplay.games.connect_four import ConnectFour
from selfplay.games.game import Game
from selfplay.games.go import Go
from selfplay.games.gomoku import Gomoku
from selfplay.games.hex import Hex
from selfplay.games.othello import Othello
from selfplay.games.sumto100 import SumTo100
from selfplay.games.tictactoe import TicTacToe, TicTacToePresentation
from selfplay.named_players.ladders import are_found
from selfplay.named_players.strengths import judge_name
from selfplay.players.perfect import perfect_player_of
from selfplay.records import fitting_formats
from selfplay.web.how_to_play import how_to_play
from tests.support.doc_pages import write_module
from tests.support.reversed_games import reversed_rules


class LosingConnectFour(ConnectFour):
    rules = reversed_rules(ConnectFour.rules)


class LosingTicTacToe(TicTacToe):
    def __init__(self) -> None:
        super().__init__(4)
        self.rules = self.rules._replace(return_to_move=LosingConnectFour.rules.return_to_move)


class LosingOthello(Othello):
    def __init__(self, width: int = 8) -> None:
        super().__init__(width)
        self.rules = reversed_rules(self.rules)


class LosingGo(Go):
    def __init__(self, width: int = 9, komi: float | None = None) -> None:
        super().__init__(width, komi)
        self.rules = reversed_rules(self.rules)


class LosingHex(Hex):
    def __init__(self) -> None:
        super().__init__(7)
        self.rules = reversed_rules(self.rules)


class LosingGomoku(Gomoku):
    def __init__(self) -> None:
        super().__init__(9)
        self.rules = reversed_rules(self.rules)


DERIVED = [LosingConnectFour, LosingOthello, LosingGo, LosingHex, LosingGomoku]


@pytest.mark.parametrize("kind", DERIVED)
def test_solvers_agents_texts_and_formats_of_the_other_game_are_not_used(kind: type[Game]) -> None:
    game, other = kind(), kind.__mro__[1]
    assert (game.derived_from, game.exact_solver, game.usual_evaluation) == (other, None, "none")
    assert game.name.startswith(kind.__name__)
    assert find_pretrained(game.learned_as()) is None
    assert fitting_formats(game) == ["txt"]
    title, texts = other().presentation.title, game.presentation
    assert texts.title == game.name
    assert texts.aim == f"Derived from {title}, with other rules."
    usual = other.presentation_class(game)
    assert texts.how_to_play == (f"This is how {title} is played:", usual.aim, *usual.how_to_play)
    assert (texts.example, texts.example_caption) == ("", "The start of a match.")


@pytest.mark.parametrize("kind", [SumTo100, Havannah])
def test_rules_made_from_those_of_a_game_end_a_match_by_their_own_actions(kind: type[Game]) -> None:
    usual = kind()
    usual_actions = usual.rules.legal_actions

    @rule
    def legal_actions(p):
        return usual_actions(p) ^ usual_actions(p)

    class Over(kind):
        rules = usual.rules._replace(legal_actions=legal_actions)

    assert bool(Over().init().terminated)
    assert not bool(usual.init().terminated)


@pytest.mark.parametrize("kind", [ConnectFour, Othello, Go, Hex, Gomoku, TicTacToe])
def test_a_subclass_with_the_same_rules_keeps_what_is_declared(kind: type[Game]) -> None:
    class Renamed(kind):
        name = "renamed"

    class Initialised(kind):
        def __init__(self) -> None:
            super().__init__()

    for game in (Renamed(), Initialised()):
        assert game.derived_from is None
        assert (game.exact_solver, game.usual_evaluation) == (kind.exact_solver, kind.usual_evaluation)
        assert game.presentation.how_to_play == kind().presentation.how_to_play


def test_the_judge_and_perfect_play_are_those_of_the_derived_rules() -> None:
    game = LosingConnectFour()
    assert perfect_player_of(game) is None
    assert judge_name(game)[0].startswith("mcts:rollouts")
    assert not are_found(game.learned_as(), "search:negascout?table_bits=0&evaluation=pretrained&depth=3")


def test_what_the_subclass_declares_is_its_own() -> None:
    class Texts(TicTacToePresentation):
        def __init__(self, game: TicTacToe) -> None:
            super().__init__(game)
            self.title, self.aim = "Losing", "Who has a line loses."

    class Losing(LosingOthello):
        name = "losing"
        presentation_class = Texts  # only its texts are used here
        exact_solver = "own"

    class LosingAtTicTacToe(TicTacToe):
        name = "losing"
        presentation_class = Texts

        def __init__(self) -> None:
            super().__init__()
            self.rules, self.usual_evaluation = reversed_rules(self.rules), "own"

    assert (Losing.name, Losing.exact_solver, Losing().exact_solver) == ("losing", "own", "own")
    game = LosingAtTicTacToe()
    assert (game.name, game.usual_evaluation) == ("losing", "own")
    assert (game.presentation.title, game.presentation.aim) == ("Losing", "Who has a line loses.")
    assert game.presentation.how_to_play[0] == "This is how Tic-tac-toe is played:"


def test_a_derived_game_is_pickled_although_its_rules_are_closures() -> None:
    game = LosingTicTacToe()
    again = pickle.loads(pickle.dumps(game))
    assert (type(again), again.name, again.rules) == (type(game), game.name, game.rules)


def test_every_process_gives_a_derived_game_its_attributes_in_the_same_order() -> None:
    script = f"from {__name__} import LosingTicTacToe; print(*vars(LosingTicTacToe()))"
    seeds = [os.environ | {"PYTHONHASHSEED": seed} for seed in "12"]
    first, second = (subprocess.check_output([sys.executable, "-c", script], env=seed, text=True) for seed in seeds)
    assert first == second


def test_the_game_of_the_page_is_checked_and_says_whose_texts_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path, "adding_a_game.md", "class Misere(TicTacToe)", "misere_of_docs.py")
    monkeypatch.syspath_prepend(tmp_path)
    game = make_game("misere_of_docs:Misere")
    check_game(game, (9, 72, 504))
    assert name_of_game(game) == "misere_of_docs:Misere"
    # X has the upper row, and loses.
    assert float(game.state_after(["0,0", "1,1", "0,1", "2,2", "0,2"]).returns) == -1.0
    assert how_to_play(game).sentences[0] == "This is how Tic-tac-toe is played:"
    assert pickle.loads(pickle.dumps(game)).rules == game.rules
