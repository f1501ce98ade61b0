"""The library as it is used from Python: one call to learn, one for matches, and names wherever a thing is taken."""

import pydoc
from pathlib import Path

import pytest

import selfplay
from selfplay.errors import SettingError
from selfplay.players.player_names import files_of_player
from selfplay.settings.folders import RUNS_FOLDER


def test_the_docs_and_completion_show_the_public_names() -> None:
    assert set(dir(selfplay)) >= {*selfplay.__all__, "__version__"}
    text = pydoc.plain(pydoc.render_doc(selfplay))
    assert [name for name in ("class LearnedRun", "learn(game", "match(first") if name not in text] == []
    assert selfplay.__version__[0].isdigit()


def test_learning_again_finds_the_levels_and_the_settings_of_the_run(tiny_run: Path) -> None:
    run = selfplay.learn("tic_tac_toe", run_dir=tiny_run, training={"epochs": 3})
    assert run.levels == (1, 2, 3)
    assert str(run.grade(3)).startswith("level 3 ")
    table = run.losses()
    assert list(table)[:3] == ["level", "epoch", "training_loss"]
    assert len(table) == 9


def test_settings_are_given_by_name_as_on_the_command_line() -> None:
    by_name = selfplay.compose_settings(
        game="tic_tac_toe",
        recipe="article",
        epsilons=(0.5, 0.25),
        run_dir=Path("it's \\'here\\"),
        training={"optimizer": {"learning_rate": 0.5}},
        gate=None,
    )
    words = ["recipe=article", "epsilons=[0.5,0.25]", "training.optimizer.learning_rate=0.5", "gate=null"]
    expected = selfplay.compose_settings(words)
    assert by_name.run_dir == "it's \\'here\\"
    expected.run_dir = by_name.run_dir
    assert by_name == expected
    with pytest.raises(SettingError, match="unknown setting 'leves'; did you mean levels"):
        selfplay.compose_settings(leves=3)
    with pytest.raises(SettingError, match=r"opponent=.*: must be a text, .*, not RandomPlayer"):
        selfplay.compose_settings(opponent=selfplay.RandomPlayer("tictactoe"))


def test_matches_are_counted_for_the_player_named_first(tiny_run: Path) -> None:
    found = selfplay.match("perfect", "level:1", run_dir=tiny_run, matches=10, seed=3)
    assert (found.matches, found.losses) == (10, 0)
    level = selfplay.load_level(tiny_run, 1, "tictactoe")
    assert selfplay.match(level, "perfect", matches=10, seed=3) == selfplay.match(level, "perfect", matches=10, seed=3)


def test_games_and_players_are_taken_by_name() -> None:
    grade = selfplay.Grader("tictactoe").grade("perfect")
    assert repr(grade).startswith("<Grade: perfect cannot lose: ")
    game = selfplay.make_game("tictactoe")
    assert repr(selfplay.make_player("random", game)) == "<RandomPlayer random>"
    assert repr(game) == "<TicTacToe tictactoe>"
    assert repr(selfplay.Board("tictactoe", game.init())).startswith("<Board of tictactoe>\n")
    record = next(selfplay.play_matches("tictactoe", ("random", "random"), range(2), key=0))
    assert len(record.match) == 2
    selfplay.check_game("tic_tac_toe")


def test_levels_are_those_of_the_usual_run_of_the_game_unless_a_folder_is_named() -> None:
    with pytest.raises(selfplay.SelfPlayError) as error:
        selfplay.make_player("level:99", "othello_4x4")
    assert str(RUNS_FOLDER / "othello_4x4") in str(error.value)


def test_a_tilde_at_the_start_of_a_path_is_the_home_folder(run_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = run_copy.with_name("elsewhere")
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("HOME", str(run_copy.parent))
    run = f"~/{run_copy.name}"
    assert selfplay.learn(run_dir=run).run_dir == run_copy
    assert selfplay.settings_of_run(Path(run)).run_dir == str(run_copy)
    assert selfplay.load_level(run, 1).name == "level 1"
    for folder, name in {run: "level:1", ".": f"level:1?run_dir={run}"}.items():
        assert selfplay.make_player(name, "tictactoe", folder).name == "level 1"
        assert files_of_player(name, folder) == [run_copy / "level_01" / "agent.safetensors"]
    assert files_of_player("tabular:~/x.npz", run) == [run_copy.with_name("x.npz")]
    for path in ("~/one.sqlite", Path("~/two.sqlite")):
        assert selfplay.ExperienceStore(path, selfplay.make_game("tictactoe")).path.parent == run_copy.parent
        assert files_of_player(f"experience:{path}", run) == [run_copy.with_name(Path(path).name)]
    assert selfplay.load_experience_player("~/three.sqlite", "tictactoe").store.path == run_copy.with_name(
        "three.sqlite"
    )
    assert not any(elsewhere.iterdir())


def test_a_player_of_another_game_is_refused() -> None:
    player = selfplay.make_player("random", "hex_3x3")
    with pytest.raises(selfplay.SelfPlayError) as error:
        selfplay.match(player, "random", game="tictactoe", matches=2)
    assert str(error.value) == "player 'random' plays hex_3x3, not tictactoe"
    assert selfplay.make_player(player, "hex_3x3") is player
