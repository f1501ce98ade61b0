"""Names of players: kinds, options, and error messages."""

from pathlib import Path
from typing import Never

import pytest

from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.errors import GameTooLargeError, SettingError, StageError
from selfplay.games import Game, make_game
from selfplay.games.position_graph import positions_of
from selfplay.named_players.make import make_player
from selfplay.named_players.names import PLAYERS, grammar, kind_named, parse_name, readable_name
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.players.experience import ExperiencePlayer, ReadOnlyExperiencePlayer
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.perfect import PerfectPlayer
from selfplay.players.player import RandomPlayer
from selfplay.players.tabular import TabularPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.runs.run_folder import RunFolder
from selfplay.tabular.learning import BACKWARD_VALUE, initial_values
from selfplay.tabular.table_file import save_tables

GAME = make_game("tictactoe")


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with an untrained level 3 and a table."""
    run_dir = tmp_path_factory.mktemp("run")
    path = RunFolder(run_dir).agent(3)
    path.parent.mkdir()
    architecture = {"name": "mlp", "hidden_sizes": [4], "dropout": 0.0}
    save_checkpoint(
        path, build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions), GAME, 3, architecture, {}
    )
    graph = positions_of("tictactoe")
    save_tables(run_dir / "table.npz", graph, initial_values(graph, BACKWARD_VALUE), BACKWARD_VALUE, {})
    return run_dir


def test_each_kind_makes_its_player(run_dir: Path) -> None:
    assert isinstance(make_player("random", GAME, run_dir), RandomPlayer)
    assert isinstance(make_player("perfect", GAME, run_dir), PerfectPlayer)
    assert isinstance(make_player("level:0", GAME, run_dir), RandomPlayer)
    assert isinstance(make_player("level:3", GAME, run_dir), ValueNetPlayer)
    tabular = make_player(f"tabular:{run_dir / 'table.npz'}", GAME, run_dir)
    assert isinstance(tabular, TabularPlayer)
    assert tabular.ties == "lowest"
    assert isinstance(make_player(f"experience:{run_dir / 'x.sqlite'}", GAME, run_dir), ExperiencePlayer)
    assert isinstance(make_player("experience", GAME, run_dir), ExperiencePlayer)
    assert (run_dir / "experience.sqlite").exists()


@pytest.mark.parametrize("name", ["mcts:level:3?simulations=5", "search:negascout?depth=1&evaluation=level:3"])
def test_a_level_within_another_name_is_that_of_its_run_dir(name: str, run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(StageError, match="has no level 3"):
        make_player(name, GAME, tmp_path)
    assert make_player(f"{name}&run_dir={run_dir}", GAME, tmp_path).value_actions(GAME.init()) is not None


@pytest.mark.parametrize(
    ("name", "game", "reason"),
    [
        ("search:astar", "othello", "unknown search 'astar'; choose from minimax, alpha_beta, negascout"),
        ("search:negascout?depth=0", "othello", "depth=0: must be from 1 to 120"),
        (
            "search:negascout?evaluation=best",
            "othello",
            "unknown evaluation 'best'; choose from article, boxes, discs, none, or use the path of a .yaml",
        ),
        (
            "search:negascout?endgame=4",
            "tictactoe",
            "game=tictactoe has no exact solver; games with one: connect_four, othello",
        ),
        ("greedy_discs", "tictactoe", "tictactoe has no features; choose another player, such as random$"),
    ],
)
def test_bad_searches_are_refused(run_dir: Path, name: str, game: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        make_player(name, make_game(game), run_dir)


def test_perfect_play_is_refused_by_name_in_a_game_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    def enumerated(game: Game) -> Never:
        raise GameTooLargeError("too many positions; choose a smaller game")

    monkeypatch.setattr("selfplay.named_players.others.positions_of", enumerated)
    with pytest.raises(GameTooLargeError, match=r"^player 'perfect': .*; choose a smaller game, or another player$"):
        make_player("perfect", make_game("hex_5x5"), "")


def test_options_reach_the_player(run_dir: Path) -> None:
    level = make_player("level:3?depth=2&temperature=0.1", GAME, run_dir)
    assert isinstance(level, ValueNetPlayer)
    assert (level.depth, level.temperature) == (2, 0.1)
    elsewhere = make_player(f"level:3?run_dir={run_dir}", GAME, "elsewhere")
    assert isinstance(elsewhere, ValueNetPlayer)
    perfect = make_player("perfect?ties=lowest", GAME, run_dir)
    assert isinstance(perfect, PerfectPlayer)
    assert perfect.ties == "lowest"
    frozen = make_player(f"experience:{run_dir / 'm.sqlite'}?learn=false&backup=minimax&canonical=true", GAME, run_dir)
    assert isinstance(frozen, ReadOnlyExperiencePlayer)
    assert not isinstance(frozen, LearnsFromMatches)
    assert (frozen.store.rule.backup, frozen.store.rule.canonical) == ("minimax", True)


def test_every_player_can_explore(run_dir: Path) -> None:
    player = make_player("perfect?epsilon=0.25", GAME, run_dir)
    assert isinstance(player, EpsilonGreedyPlayer)
    assert player.epsilons == (0.25,)
    assert player.policy(GAME.init()).sum().item() == pytest.approx(1)
    learner = make_player("experience?epsilon=0.5", GAME, run_dir)
    assert isinstance(learner.unwrapped, LearnsFromMatches)
    assert learner.unwrapped.status() is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unknown player ''; choose from beginner, easy, medium, hard, strongest, level:L, pretrained, search:"),
        ("level", "write level:L"),
        ("level:3?depth=4", "depth=4: a network searches 1 to 3 plies ahead"),
        ("level:3?depth=1&depth=2", "option depth is given twice"),
        ("level:3?depth", "option depth needs a value, as depth=VALUE"),
        ("level:3?speed=1", "'speed=1' is not an option of level:L; it takes depth, temperature, run_dir, epsilon"),
        ("perfect?epsilon=2", "player 'perfect?epsilon=2': epsilon must be from 0 to 1"),
        ("experience?learn=maybe", "learn must be true or false"),
        ("human", "a person can only play with"),
    ],
)
def test_an_invalid_name_is_refused_in_one_line(run_dir: Path, text: str, reason: str) -> None:
    with pytest.raises(SettingError) as caught:
        make_player(text, GAME, run_dir)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_grammar_names_every_kind() -> None:
    kinds = {name: kind_named(name) for name in PLAYERS}
    assert all(kind.syntax in grammar() for kind in kinds.values())
    assert all(parse_name(kind.syntax.strip("[]").replace("[", "")).kind == name for name, kind in kinds.items())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("search:negascout?depth=6&evaluation=article", "negascout, 6 plies, article"),
        ("search:negascout?depth=1&evaluation=none", "negascout, 1 ply"),
        ("greedy_discs", "greedy_discs"),
    ],
)
def test_names_of_searches_are_readable(name: str, shown: str) -> None:
    assert readable_name(name) == shown


def test_the_grammar_says_that_a_person_does_not_explore() -> None:
    with pytest.raises(SettingError, match="a person"):
        make_player("human?epsilon=0.5", GAME)
    assert "Every player except human also takes the option epsilon" in grammar()
