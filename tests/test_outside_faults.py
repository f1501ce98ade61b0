"""Games, players and rules from outside that break their contract are refused by their names; nothing hangs."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import selfplay
from selfplay.errors import ConformanceError, SelfPlayError, SettingError
from selfplay.stages.compare import check_references
from tests.support.pile import Pile

GAME = """
import sys
from selfplay import make_game
from tests.support.pile import Pile as Right
from selfplay.compute.bit_algebra import rule
from selfplay.games import Rules

@rule
def never(own, opp):
    return own != own

FULL = (1 << 64) - 1

@rule
def too_wide(own, opp):
    return (own ^ FULL) & opp

class Endless(Right):
    rules = Right.rules._replace(is_terminal=never)

class TooWide(Right):
    rules = Right.rules._replace(legal_actions=too_wide)

def forgotten(own, opp):
    return own + opp >= 7

@rule
def calls_an_unmarked_one(own, opp):
    return forgotten(own, opp)

class Unmarked(Right):
    rules = Right.rules._replace(is_terminal=calls_an_unmarked_one)

class Leaves(Right):
    def action_to_string(self, action):
        sys.exit(0)

class WrongMirror(Right):
    @property
    def symmetries(self):
        return [[0]], 1 // 0

class Go9(Right):
    num_distinct_actions, pass_action, observation_shape = 82, 81, (2, 9, 9)
"""

PLAYERS = """
import torch
from selfplay import Player

class Bad(Player):
    name = "bad"
    def __init__(self, game): pass
    def act(self, state, draws):
        return self.chosen(state.own)

class Illegal(Bad):
    def chosen(self, own): return own * 0 + 999
class Nothing(Bad):
    def chosen(self, own): pass
class Floats(Bad):
    def chosen(self, own): return own * 0.5
class Narrow(Bad):
    def chosen(self, own): return own[:-1]
"""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the import path with modules that misbehave."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "faulty_games.py").write_text(GAME)
    (folder / "faulty_players.py").write_text(PLAYERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("faulty_games:Endless", "ends: a match is longer than max_game_length=14"),
        ("faulty_games:TooWide", "at most 64 squares and 64 actions"),
        ("faulty_games:Unmarked", "rules: forgotten is not marked with @rule"),
        ("faulty_games:Leaves", "texts: SystemExit: 0"),
        ("faulty_games:WrongMirror", "symmetries: ZeroDivisionError"),
        ("faulty_games:Go9", "at most 64 squares and 64 actions"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused_where_it_is_named(name: str, reason: str) -> None:
    for use in (selfplay.make_game, selfplay.check_game):
        with pytest.raises(SelfPlayError) as error:
            use(name)
        assert reason in str(error.value)
        assert "\n" not in str(error.value)


def test_a_match_that_does_not_end_is_stopped() -> None:
    game = Pile()
    game.max_game_length = 3
    with pytest.raises(ConformanceError, match=r"^pile: a match is longer than max_game_length=3$"):
        selfplay.match("random", "random", game=game, matches=2)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Illegal", "action 999 is not legal here"),
        ("Nothing", r"act must return int64\[5\], a legal action for each match, not None"),
        ("Floats", r"act must return int64\[5\], .*, not tensor"),
        ("Narrow", r"act must return int64\[5\], .*, not tensor"),
    ],
)
def test_a_player_that_returns_nonsense_is_reported_by_its_name(name: str, reason: str) -> None:
    with pytest.raises(SelfPlayError, match=f"^player 'faulty_players:{name}': {reason}"):
        selfplay.match(f"faulty_players:{name}", "random", game="tictactoe", matches=10)


@pytest.mark.parametrize("setting", ["opponent", "sparring_partner"])
@pytest.mark.parametrize("name", ["os:system", "builtins:int"])
def test_what_is_not_a_player_is_refused_when_settings_are_composed(setting: str, name: str) -> None:
    with pytest.raises(SettingError, match=f"^{setting}={name}: not a subclass of selfplay.Player, nor a PlayerKind$"):
        selfplay.compose_settings(**{setting: name})


@pytest.mark.parametrize("setting", ["opponent", "sparring_partner", "comparison.references"])
def test_a_person_is_refused_where_only_players_play(setting: str) -> None:
    value = ["human"] if setting == "comparison.references" else "human"
    with pytest.raises(SettingError, match=f"^{setting}=human: a person can only play with selfplay play$"):
        selfplay.compose_settings(**{setting: value})


@pytest.mark.parametrize(
    ("name", "reason"),
    [("level:99", "level 99"), ("gtp:", "gtp:COMMAND"), ("level:2?depth=x", "depth must be a whole")],
)
def test_a_reference_that_does_not_exist_is_refused_before_anything_is_learned(
    tmp_path: Path, name: str, reason: str
) -> None:
    settings = selfplay.compose_settings(levels=2, run_dir=tmp_path, comparison={"references": ["level:2", name]})
    with pytest.raises(SelfPlayError, match=reason):
        check_references(settings)


@pytest.mark.parametrize(
    ("adapter", "package"),
    [("gymnasium", "gymnasium"), ("open_spiel", "pyspiel"), ("pettingzoo", "pettingzoo"), ("onnx", "onnxruntime")],
)
def test_an_adapter_whose_package_is_missing_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, adapter: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"selfplay.adapters.{adapter}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .*\[(gymnasium|openspiel|pettingzoo|onnx)\]"):
        import_module(f"selfplay.adapters.{adapter}")
