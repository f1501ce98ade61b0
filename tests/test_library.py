"""The library as it is used from Python: one call to learn, one for matches, and names wherever a thing is taken."""

import pydoc
from pathlib import Path

import pytest

import selfplay
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import name_of_game
from selfplay.games.othello import Othello
from selfplay.settings.folders import RUNS_FOLDER
from tests.support.reversed_games import ReversedConnectFour, ReversedOthello, ReversedTicTacToe


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


REVERSED = "tests.support.reversed_games:ReversedTicTacToe"


def test_a_game_given_as_an_object_is_the_one_that_is_played_learned_and_graded(tmp_path: Path, tiny_run: Path) -> None:
    game = ReversedTicTacToe()
    assert game.name == "tictactoe"
    played = selfplay.match("perfect", "random", game=game, matches=20)
    assert played.losses == 0
    assert played == selfplay.match("perfect", "random", game=REVERSED, matches=20)
    assert selfplay.match("perfect", "random", matches=20) != played
    run = selfplay.learn(game, run_dir=tmp_path, levels=1, matches=20)
    assert selfplay.settings_of_run(tmp_path).game.name == REVERSED
    assert isinstance(run.player().game, ReversedTicTacToe)
    assert run.grade() == selfplay.Grader(game).grade(selfplay.load_level(tmp_path, 1, game))
    # Files of the game with the same name are those of another game.
    with pytest.raises(InvalidFileError, match=f"is for tictactoe, not for {REVERSED}"):
        selfplay.match("level:1", "random", game=game, run_dir=tiny_run, matches=2)
    with pytest.raises(SettingError, match="plays another game of the same name, not tictactoe"):
        selfplay.match(selfplay.make_player("perfect", game), "random", matches=2)
    selfplay.ExperienceStore(tmp_path / "graph.sqlite", selfplay.make_game("tictactoe")).close()
    with pytest.raises(InvalidFileError, match=f"belongs to tictactoe, not {REVERSED}"):
        selfplay.ExperienceStore(tmp_path / "graph.sqlite", game)


def test_a_name_makes_the_same_game_again_or_one_line_says_that_none_does(tmp_path: Path) -> None:
    for name in ("tictactoe", "othello_6x6", REVERSED, f"{REVERSED}_4x4"):
        assert name_of_game(selfplay.make_game(name)) == name
    assert name_of_game(ReversedTicTacToe(4)) == f"{REVERSED}_4x4"
    assert name_of_game(Othello(6)) == "othello_6x6"

    class Local(ReversedTicTacToe):
        pass

    changed = selfplay.make_game("tictactoe")
    changed.rules = ReversedTicTacToe().rules
    for game in (Local(), changed):
        with pytest.raises(SettingError, match=rf"{game!r}: no name makes this game, .* define its class in a module"):
            selfplay.learn(game, run_dir=tmp_path / "run", levels=1, matches=20)
    assert not (tmp_path / "run").exists()


def test_an_exact_solver_refuses_a_game_that_inherits_it_with_other_rules() -> None:
    for game in (ReversedConnectFour(), ReversedOthello()):
        with pytest.raises(SettingError, match="set exact_solver = None"):
            selfplay.match("perfect", "random", game=game, matches=2)


def test_levels_are_those_of_the_usual_run_of_the_game_unless_a_folder_is_named() -> None:
    with pytest.raises(selfplay.SelfPlayError) as error:
        selfplay.make_player("level:99", "othello_4x4")
    assert str(RUNS_FOLDER / "othello_4x4") in str(error.value)


def test_a_player_of_another_game_is_refused() -> None:
    for name in ("random", "perfect", "random?epsilon=0.5"):
        player = selfplay.make_player(name, "hex_3x3")
        with pytest.raises(selfplay.SelfPlayError) as error:
            selfplay.match(player, "random", game="tictactoe", matches=2)
        assert str(error.value) == f"player {player.name!r} plays hex_3x3, not tictactoe"
        assert selfplay.make_player(player, "hex_3x3") is player
