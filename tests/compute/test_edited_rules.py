"""Rules that have been edited: what is compiled is what is in the files, with one folder of compiled code."""

import sys
from importlib import import_module, invalidate_caches

from selfplay.compute.compile_cache import cache_folder
from selfplay.games.single_positions import legal_numbers, played_singly

FILES = {
    "take_edited": """
from typing import NamedTuple

import table_edited
from helpers_edited import most_of
from selfplay import Game, Rules, number, position, rule

MOST = 4
SIZES = (1, 2, 3, 4)


@position
class Position(NamedTuple):
    left: int = number(5)
    low: int = number(3)
    cap: int = number(3)


@rule
def least(p: Position, than: int = 4) -> int:
    return min(p.cap, than)


@rule
def legal_actions(p: Position) -> int:
    most = min(least(p), MOST, most_of(p.left), table_edited.LONGEST)
    return (1 << most) - 1


@rule
def play(p: Position, action: int) -> Position:
    return Position(p.left - SIZES[action], p.low, p.cap)


@rule
def is_over(p: Position) -> bool:
    return p.left == 0


@rule
def return_to_move(p: Position) -> int:
    return -1


class Take(Game):
    name, num_distinct_actions, observation_shape, max_game_length = "take", 4, (11,), 21
    rules = Rules(Position(20, 2, 4), legal_actions, play, is_over, return_to_move)
""",
    "helpers_edited": """
from selfplay import rule


@rule
def inner(left: int) -> int:
    return 3 if left in (17, 18) else 4


@rule
def most_of(left: int) -> int:
    return inner(left)
""",
    "table_edited": "LONGEST = 6\n",
}

EDITS = {
    "a constant": ("take_edited", "MOST = 4", "MOST = 3"),
    "a tuple": ("take_edited", "(1, 2, 3, 4)", "(1, 2, 2, 4)"),
    "a field of another name": ("take_edited", "min(p.cap,", "min(p.low,"),
    "a default argument": ("take_edited", "than: int = 4", "than: int = 1"),
    "a helper": ("helpers_edited", "return inner(left)", "return inner(left + 1)"),
    "the helper of a helper": ("helpers_edited", "(17, 18)", "(16, 18)"),
    "a constant of an imported module": ("table_edited", "LONGEST = 6", "LONGEST = 2"),
}


def uncompiled_perft(game, position, depth):
    if depth == 0:
        return 1
    following = (played_singly(game, position, action)[0] for action in legal_numbers(game, position))
    return sum(uncompiled_perft(game, one, depth - 1) for one in following)


def test_edited_rules_are_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    cache_folder.cache_clear()

    def perft(edited=None, old="", new=""):
        for name, text in FILES.items():
            monkeypatch.delitem(sys.modules, name, raising=False)
            (tmp_path / f"{name}.py").write_text(text.replace(old, new) if name == edited else text)
        invalidate_caches()
        game = import_module("take_edited").Take()
        counted = game.kernels.perft(game.rules.initial, 3, True)
        assert counted == uncompiled_perft(game, game.rules.initial, 3)
        return counted

    try:
        before = perft()
        codes = set(cache_folder().glob("*.code"))
        assert codes
        assert perft("take_edited", "MOST = 4", "# A comment.\nMOST = 4") == before
        assert set(cache_folder().glob("*.code")) == codes
        assert not [what for what, edit in EDITS.items() if perft(*edit) == before]
    finally:
        cache_folder.cache_clear()
