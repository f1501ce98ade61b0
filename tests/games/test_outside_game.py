"""A game from outside the package: the example of docs/adding_a_game.md."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from selfplay import compose_settings, learn_levels
from selfplay.errors import SettingError
from selfplay.games import GAMES, make_game, name_of_game
from selfplay.games.conformance import check_game
from selfplay.games.position_graph import positions_of
from selfplay.runs.levels import load_level
from tests.support.doc_pages import block_with
from tests.support.runs import PROJECT, TINY
from tests.support.wheels import install_entry_points

PERFT = (3, 9, 27, 81, 240, 618, 1602, 3096, 5248, 6508, 5734, 3028, 0)
POSITIONS = 2715


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module connect3 from that page."""
    page = (PROJECT / "docs" / "adding_a_game.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    folder = tmp_path_factory.mktemp("outside")
    (folder / "connect3.py").write_text(next(block for block in blocks if "class Connect3(Game)" in block))
    return folder


@pytest.fixture
def name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(folder)
    return "connect3:Connect3"


def test_a_game_that_is_named_by_its_class_meets_the_contract(name: str) -> None:
    game = make_game(name)
    assert game.name == name
    check_game(game, PERFT)
    assert len(positions_of(name)) == POSITIONS


def test_a_module_that_is_reloaded_makes_the_game_that_is_in_it_now(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for length in (14, 15):
        code = f"from tests.support.pile import Pile\n\nclass Edited(Pile):\n    max_game_length = {length}\n"
        (tmp_path / "reloaded_game.py").write_text(code)
        if "reloaded_game" in sys.modules:
            importlib.reload(sys.modules["reloaded_game"])
        game = make_game("reloaded_game:Edited")
        assert game.max_game_length == length
        assert name_of_game(type(game)()) == game.name


def test_people_see_the_name_that_its_author_wrote(folder: Path, name: str) -> None:
    sized = "import connect3\n\nclass Sized(connect3.Connect3):\n    name, sizes = 'sized', (4, 6)\n"
    (folder / "sized.py").write_text(f"{sized}\n    def __init__(self, size=4):\n        pass\n")
    assert make_game(name).presentation.title == "connect3"
    game = make_game("sized:Sized", 6)
    assert (game.name, game.presentation.title) == ("sized:Sized_6x6", "sized")


@pytest.fixture
def wild(folder: Path, name: str) -> Any:
    """The game with other names of its boards, so that nothing says whose stones are whose."""
    text = re.sub(r"\bown\b", "crosses", re.sub(r"\bopp\b", "noughts", (folder / "connect3.py").read_text()))
    (folder / "wild3.py").write_text(text.replace("class Connect3(Game)", "class Wild(Game)"))
    return make_game("wild3:Wild")


def test_boards_that_are_not_those_of_the_players_are_drawn_by_letters(wild: Any) -> None:
    assert wild.board_shape == (4, 3)
    board = wild.presentation.board_text(wild.state_after("22"))
    assert board.splitlines()[3:] == [" 3 . N .", " 4 . C .", "C crosses, N noughts"]
    assert wild.squares(wild.init()).tolist() == [[0] * 12]


def test_stones_of_several_kinds_and_numbers_are_shown(folder: Path, name: str) -> None:
    text = (folder / "connect3.py").read_text()
    text = text.replace(
        "# those of the other player", "\n    first: Word = squares(SQUARES)\n    plies: int = number(4)"
    )
    text = text.replace(
        "opp=p.own | (1 << square))", "opp=p.own | (1 << square), first=p.first or 1 << square, plies=p.plies + 1)"
    )
    text = text.replace("Position(0, 0)", "Position(0, 0, 0, 0)").replace("import Game,", "import Game, number,")
    (folder / "marked3.py").write_text(text.replace("class Connect3(Game)", "class Marked(Game)"))
    game = make_game("marked3:Marked")
    expected = [" 3 .  O  . ", " 4 .  XF . ", "F first; plies 2"]
    shown = game.presentation.board_text(game.state_after("22")).splitlines()[3:]
    assert [line.split() for line in shown] == [line.split() for line in expected]


def test_equal_positions_of_different_classes_make_different_rules(name: str) -> None:
    rules = make_game(name).rules
    assert {rules, rules._replace()} == {rules}
    assert rules != rules._replace(initial=(0, 0))


def test_a_level_of_it_is_learned_and_loaded(name: str, tmp_path: Path) -> None:
    settings = compose_settings([*TINY, f"game.name={name}", f"run_dir={tmp_path}", "levels=1"])
    learn_levels(settings)
    agent = load_level(tmp_path, 1)
    assert agent.game.name == name
    assert agent.action_values(agent.game.init()).isfinite().all()


def test_an_installed_package_offers_it_as_an_entry_point(name: str, folder: Path) -> None:
    install_entry_points(folder, f"[selfplay.games]\nconnect3 = {name}\n")
    assert "connect3" in GAMES
    assert make_game("connect3").name == "connect3"


def test_the_second_example_lets_the_player_who_closes_a_box_move_again() -> None:
    names: dict[str, Any] = {}
    exec(block_with("adding_a_game.md", "def moves_again"), names)
    position = names["Position"](0, 0, 0, 0)
    for action in range(3):
        position = names["play"](position, action)
        assert not names["moves_again"](position)
    position = names["play"](position, 3)
    assert names["moves_again"](position)
    assert (position.own, position.opp) == (1, 0)


def test_a_game_that_cannot_be_found_is_refused() -> None:
    with pytest.raises(
        SettingError, match="unknown game 'chess'; choose from breakthrough, connect_four, dots_and_boxes, "
    ):
        make_game("chess")
    with pytest.raises(SettingError, match="game 'nowhere:Chess' cannot be imported"):
        make_game("nowhere:Chess")


def test_only_a_subclass_of_game_is_a_game():
    name = "os:getcwd"
    with pytest.raises(SettingError, match=f"^game '{name}' is not a subclass of selfplay.games.Game$"):
        make_game(name)
