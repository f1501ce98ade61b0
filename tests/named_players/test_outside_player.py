"""Players from outside the package: named by their module, or offered as an entry point."""

from pathlib import Path

import pytest

from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.named_players.make import make_pair, make_player
from selfplay.named_players.names import grammar
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings, TournamentSettings
from selfplay.stages.play_matches import play_match_series
from selfplay.stages.tournament import play_tournament
from tests.support.wheels import install_entry_points

GAME = make_game("tictactoe")

MODULE = '''
from __future__ import annotations

from selfplay.games import Game
from selfplay.players.player import Player
from selfplay.named_players.names import Option, PlayerKind, PlayerName, player_kind


class Nth(Player):
    """Takes the n-th legal action, or the last one."""

    def __init__(self, game, n=0, *, backwards: bool = False):
        self.game, self.n, self.name = game, n, f"nth {n}{' backwards' * backwards}"

    def act(self, state, draws):
        mask = self.game.legal_action_mask(state)
        wanted = mask.sum(dim=1, keepdim=True).clamp(max=self.n + 1)
        return (mask & (mask.cumsum(dim=1) == wanted)).int().argmax(dim=1)


@player_kind("numbered:N")
def numbered(game: Game, name: PlayerName, *, more: int = 0, backwards: bool | None = None) -> Player:
    """the n-th legal action,
    counted from 0

    This is not shown.
    """
    return Nth(game, int(name.argument) + more, backwards=bool(backwards))


KIND = PlayerKind(
    "nth:N", "the n-th legal action", lambda name, game, run_dir: Nth(game, int(name.argument)), (Option("n", int, 0),)
)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path with the module outside_player."""
    (tmp_path / "outside_player.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "outside_player", raising=False)
    return tmp_path


def test_a_player_that_is_named_by_its_class_plays_a_series_of_matches(tmp_path: Path) -> None:
    overrides = ["first=outside_player:Nth", "second='random?epsilon=0.5'", "matches=20", f"run_dir={tmp_path}"]
    results = play_match_series(compose_settings_of(MatchSettings, "matches", overrides))
    assert results.matches == 20
    assert make_player("outside_player:Nth?epsilon=0.5", GAME, tmp_path).name == "epsilon-greedy nth 0"


def test_players_of_a_pair_that_call_themselves_the_same_have_the_names_that_were_given(folder: Path) -> None:
    (folder / "namesakes.py").write_text("""
from selfplay.players.player import RandomPlayer


class Namesake(RandomPlayer):
    name = "namesake"

    def __init__(self, game, *, level: int = 0):
        super().__init__(game)
""")
    names = ("namesakes:Namesake?level=1", "namesakes:Namesake?level=2")
    assert tuple(player.name for player in make_pair(*names, GAME)) == names
    assert [player.name for player in make_pair(names[0], "random", GAME)] == ["namesake", "random"]
    first, second = make_pair(names[0], make_player(names[0], GAME), GAME)
    assert (first.name, second.name) == (names[0], "namesake")


def test_a_kind_from_outside_has_its_syntax_and_options_and_plays_a_tournament(tmp_path: Path) -> None:
    players = "[random,perfect,'outside_player:KIND:8','outside_player:Nth']"
    overrides = [f"players={players}", "matches=2", f"run_dir={tmp_path}"]
    tournament = play_tournament(compose_settings_of(TournamentSettings, "tournament", overrides))
    assert [grade is None for grade in tournament.grades] == [False, False, True, True]
    with pytest.raises(SettingError, match="'depth=2' is not an option of nth:N; it takes n, epsilon"):
        make_player("outside_player:KIND:8?depth=2", GAME, tmp_path)


def test_the_options_are_the_keyword_arguments_of_a_function_or_class(folder: Path) -> None:
    install_entry_points(folder, "[selfplay.players]\nnumbered = outside_player:numbered\n")
    assert make_player("numbered:2", GAME, folder).name == "nth 2"
    assert make_player("numbered:2?more=3&backwards=true", GAME, folder).name == "nth 5 backwards"
    assert make_player("outside_player:Nth?backwards=true", GAME, folder).name == "nth 0 backwards"
    shown = "numbered:N the n-th legal action, counted from 0; options more, backwards"
    assert shown in {" ".join(line.split()) for line in grammar().splitlines()}
    with pytest.raises(SettingError, match="player 'numbered:2\\?more=x': more must be a whole number"):
        make_player("numbered:2?more=x", GAME, folder)


def test_an_installed_package_offers_a_kind_as_an_entry_point(folder: Path) -> None:
    install_entry_points(folder, "[selfplay.players]\nnth = outside_player:KIND\n")
    assert make_player("nth:8", GAME, folder).name == "nth 8"
    assert "nth:N the n-th legal action; options n" in {" ".join(line.split()) for line in grammar().splitlines()}


@pytest.mark.parametrize("text", ["outside:", "os.nothing:Player"])
def test_a_name_without_such_a_module_is_an_unknown_player(text: str, tmp_path: Path) -> None:
    with pytest.raises(
        SettingError,
        match=f"unknown player '{text}'; choose from beginner, easy, .*, or module:Class of a module that Python finds",
    ):
        make_player(text, GAME, tmp_path)
