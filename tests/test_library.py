"""The library as it is used from Python: one call to learn, one for matches, and names wherever a thing is taken."""

import operator
import pickle
import pydoc
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import selfplay
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import game_names, name_of_game
from selfplay.games.othello import Othello
from selfplay.named_players.make import files_of_player
from selfplay.runs.folders import RUNS_FOLDER
from tests.support.games import with_slow_boards
from tests.support.reversed_games import ReversedConnectFour, ReversedOthello, ReversedTicTacToe

QUICK = {"epochs": 1, "steps_per_epoch": 5}
"""Parameters of a learner."""


def test_the_docs_and_completion_show_the_public_names() -> None:
    assert set(dir(selfplay)) >= {*selfplay.__all__, "__version__"}
    text = pydoc.plain(pydoc.render_doc(selfplay))
    assert [name for name in ("class LearnedRun", "learn(game", "match(first") if name not in text] == []
    assert selfplay.__version__[0].isdigit()


def test_learning_again_finds_the_levels_and_the_settings_of_the_run(tiny_run: Path) -> None:
    run = selfplay.learn("tic_tac_toe", run_dir=tiny_run, learner={"epochs": 3})
    assert run.levels == (1, 2, 3)
    assert str(run.grade(3)).startswith("level 3 ")
    table = run.losses()
    assert list(table)[:3] == ["level", "epoch", "training_loss"]
    assert len(table) == 9


def test_a_run_is_returned_up_to_the_level_asked_for_also_if_more_are_trained(tiny_run: Path) -> None:
    run = selfplay.learn("tictactoe", levels=2, run_dir=tiny_run)
    assert (run.levels, run.player().name) == ((1, 2), "level 2")
    assert str(run) == f"{tiny_run}: 2 trained levels"
    assert str(run.grade()).startswith("level 2 ")
    assert run.losses()["level"].unique().tolist() == [1, 2]
    assert str(run.grade(3)).startswith("level 3 ")


def test_settings_are_given_by_name_as_on_the_command_line() -> None:
    by_name = selfplay.compose_settings(
        game="tic_tac_toe",
        recipe="article",
        run_dir=Path("it's \\'here\\"),
        learner={"epsilons": (0.5, 0.25), "learning_rate": 0.5, "gate": None},
    )
    words = ["recipe=article", "learner.epsilons=[0.5,0.25]", "learner.learning_rate=0.5", "learner.gate=null"]
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


def test_games_are_taken_by_name_or_as_objects() -> None:
    perfect = selfplay.make_player("perfect", "tictactoe")
    grade = selfplay.grade(selfplay.make_game("tictactoe"), perfect)
    assert grade.lines == selfplay.Grader("tictactoe").grade(perfect).lines
    assert repr(grade).startswith("<Grade: perfect cannot lose: ")
    game = selfplay.make_game("tictactoe")
    assert repr(selfplay.make_player("random", game)) == "<RandomPlayer random>"
    assert repr(game) == "<TicTacToe tictactoe>"
    assert repr(selfplay.Board("tictactoe", game.init())).startswith("<Board of tictactoe>\n")
    record = next(selfplay.play_matches("tictactoe", (RANDOM, RANDOM), range(2), key=0))
    assert len(record.match) == 2
    selfplay.check_game("tic_tac_toe")
    assert selfplay.make_exact_solver("othello_4x4", 10).counts_points


def test_players_are_taken_by_name_or_as_objects() -> None:
    assert str(selfplay.grade("tictactoe", "perfect")).startswith("perfect cannot lose: ")
    perfect = selfplay.make_player("perfect", GAME)
    results = [
        [record.returns().tolist() for record in selfplay.play_matches("tictactoe", players, range(20), key=0)]
        for players in (("perfect", "random"), (perfect, RANDOM), [perfect, "random"])
    ]
    assert results[0] == results[1] == results[2]


REVERSED = "tests.support.reversed_games:ReversedTicTacToe"


def test_a_game_given_as_an_object_is_the_one_that_is_played_learned_and_graded(tmp_path: Path, tiny_run: Path) -> None:
    game = ReversedTicTacToe()
    assert game.name == "tictactoe"
    played = selfplay.match("perfect", "random", game=game, matches=20)
    assert played.losses == 0
    assert played == selfplay.match("perfect", "random", game=REVERSED, matches=20)
    assert selfplay.match("perfect", "random", matches=20) != played
    run = selfplay.learn(game, run_dir=tmp_path, levels=1, matches=20, learner=QUICK)
    assert selfplay.settings_of_run(tmp_path).game.name == REVERSED
    assert isinstance(run.player().game, ReversedTicTacToe)
    assert run.grade() == selfplay.Grader(game).grade(selfplay.load_level(tmp_path, 1, game))
    # Files of the game with the same name are those of another game.
    with pytest.raises(InvalidFileError, match=f"is for tictactoe, not for {REVERSED}"):
        selfplay.match("level:1", "random", game=game, run_dir=tiny_run, matches=2)
    with pytest.raises(SettingError, match="plays another game of the same name, not tictactoe"):
        selfplay.match(selfplay.make_player("perfect", game), "random", game="tictactoe", matches=2)
    selfplay.ExperienceStore(tmp_path / "graph.sqlite", selfplay.make_game("tictactoe")).close()
    with pytest.raises(InvalidFileError, match=f"belongs to tictactoe, not {REVERSED}"):
        selfplay.ExperienceStore(tmp_path / "graph.sqlite", game)


def test_a_match_knows_the_game_of_its_players_and_of_its_run(tmp_path: Path) -> None:
    run = selfplay.learn(
        "hex_3x3", run_dir=tmp_path, levels=1, matches=100, learner=QUICK, comparison={"references": []}
    )
    found = [
        selfplay.match(run.player(), "random", matches=10),
        selfplay.match("level:1", selfplay.make_player("random", "hex_3x3"), run_dir=tmp_path, matches=10),
        selfplay.match("level:1", "random", run_dir=tmp_path, matches=10),
    ]
    assert found == [selfplay.match(run.player(), "random", game="hex_3x3", matches=10)] * 3


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


def test_an_exact_solver_refuses_a_game_that_declares_it_with_other_rules() -> None:
    games = ReversedConnectFour(), ReversedOthello()
    for game, solver in zip(games, ("connect_four", "discs"), strict=True):
        game.exact_solver = solver
        with pytest.raises(SettingError, match="set exact_solver = None"):
            selfplay.match("perfect", "random", game=game, matches=2)


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
    for name in ("random", "perfect", "random?epsilon=0.5"):
        player = selfplay.make_player(name, "hex_3x3")
        with pytest.raises(selfplay.SelfPlayError) as error:
            selfplay.match(player, "random", game="tictactoe", matches=2)
        assert str(error.value) == f"player {player.name!r} plays hex_3x3, not tictactoe"
        assert selfplay.make_player(player, "hex_3x3") is player


@pytest.mark.parametrize("name", [*with_slow_boards(game_names()), "tests.support.pile:Pile"])
def test_a_game_can_be_pickled_after_it_was_played(name: str) -> None:
    game = selfplay.make_game(name)
    state = game.step(game.init(), game.legal_action_mask(game.init()).to(torch.int64).argmax(dim=1))
    assert game.presentation.board_text(state)
    copied = pickle.loads(pickle.dumps(game))
    assert (copied.name, copied.rules, copied.observation_shape) == (name, game.rules, game.observation_shape)
    assert torch.equal(copied.observe(state), game.observe(state))


def test_a_game_that_was_changed_is_not_pickled_as_the_unchanged_one() -> None:
    game = selfplay.make_game("connect_four")
    game.rules = game.rules._replace(return_to_move=operator.sub)
    game.max_game_length = 10
    copied = pickle.loads(pickle.dumps(game))
    assert (copied.rules, copied.max_game_length) == (game.rules, 10)


PICKLED = {
    "tictactoe": ["random", "perfect", "random?epsilon=0.5", "experience"],
    "connect_four": ["pretrained", "pretrained?depth=2", "search:negascout?depth=2&endgame=8"],
    "othello_4x4": ["greedy_discs", "search:negascout?depth=2&endgame=8"],
}


@pytest.mark.parametrize(("game", "name"), [(game, name) for game, names in PICKLED.items() for name in names])
def test_a_player_can_be_pickled_and_plays_the_same(game: str, name: str, tmp_path: Path) -> None:
    player = selfplay.make_player(name, game, tmp_path)
    state = selfplay.make_game(game).init(2)
    draws = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.arange(2), 0)
    expected = player.act(state, draws)
    assert torch.equal(pickle.loads(pickle.dumps(player)).act(state, draws), expected)


GAME = selfplay.make_game("tictactoe")
STATE = GAME.init(2)
PAIR, RANDOM = ("random", "random"), selfplay.RandomPlayer(GAME)
WRONG = {
    "game=3: must be a game or its name, such as tictactoe": lambda run: selfplay.learn(3),
    "player=None: must be a player or its name, such as random": lambda run: selfplay.match("random", None),
    "matches=-5: must be 1 or more": lambda run: selfplay.match(*PAIR, matches=-5),
    "matches='2': must be a whole number": lambda run: selfplay.match(*PAIR, matches="2"),
    "seed=1.5: must be a whole number": lambda run: selfplay.match(*PAIR, seed=1.5),
    f"seed={2**70}: must be from {-(2**63)} to 9,223,372,036,854,775,807": lambda run: selfplay.match(
        *PAIR, seed=2**70
    ),
    "run_dir=None: must be the path of a folder": lambda run: selfplay.load_level(None),
    "run_dir=3: must be the path of a folder": lambda run: selfplay.make_player("level:1", GAME, 3),
    "level='1': must be a whole number": lambda run: selfplay.load_level(run, "1"),
    "depth='2': must be a whole number": lambda run: selfplay.load_level(run, depth="2"),
    "temperature=x: must be a number": lambda run: selfplay.load_level(run, temperature="x"),
    "overrides='levels=3': must be a list of texts, such as ['levels=3']": lambda run: selfplay.compose_settings(
        "levels=3"
    ),
    "overrides=[3]: must be a list of texts, such as ['levels=3']": lambda run: selfplay.settings_of_run(run, [3]),
    "matches=5: must be a range of match numbers, such as range(100)": lambda run: next(
        selfplay.play_matches(GAME, (RANDOM, RANDOM), 5, 0)
    ),
    "players=('random',): must be two players or their names": lambda run: next(
        selfplay.play_matches(GAME, ("random",), range(2), 0)
    ),
    "player=<class 'int'>: must be a player or its name, such as random": lambda run: selfplay.grade(GAME, int),
    "player=3: must be a player or its name, such as random": lambda run: selfplay.play_matches(
        GAME, (3, "random"), range(2), 0
    ),
    "opening_plies=-1: must be 0 or more": lambda run: next(
        selfplay.play_matches(GAME, (RANDOM, RANDOM), range(2), 0, opening_plies=-1)
    ),
    "batch_size=0: must be 1 or more": lambda run: next(
        selfplay.play_matches(GAME, (RANDOM, RANDOM), range(2), 0, batch_size=0)
    ),
    "state=3: must be a State": lambda run: selfplay.Board(GAME, 3),
    "row=5: must be a match of the state, which has 2": lambda run: selfplay.Board(GAME, STATE, row=5),
    "values: must be 9 numbers, one for each action": lambda run: selfplay.Board(GAME, STATE, values=[1.0]),
    "actions must be a tensor int64[2], one for each match": lambda run: GAME.step(STATE, torch.tensor([1])),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_argument_is_named_in_one_line(message: str, tiny_run: Path) -> None:
    with pytest.raises(selfplay.SelfPlayError) as error:
        WRONG[message](tiny_run)
    assert str(error.value) == message


def test_numbers_of_numpy_and_torch_are_numbers(tiny_run: Path) -> None:
    given = selfplay.compose_settings(
        levels=np.int64(3),
        learner={"gamma": np.float32(0.5), "epsilons": np.array([0.5, 0.25])},
        force=np.bool_(True),
    )
    assert given == selfplay.compose_settings(levels=3, learner={"gamma": 0.5, "epsilons": [0.5, 0.25]}, force=True)
    assert selfplay.load_level(tiny_run, torch.tensor(2)).name == "level 2"
    assert selfplay.match(*PAIR, matches=np.int32(4)).matches == 4


def test_a_network_is_given_with_its_options_as_one_mapping() -> None:
    conv = selfplay.compose_settings(architecture={"name": "conv", "channels": 8})
    assert conv == selfplay.compose_settings(["architecture=conv", "architecture.channels=8"])
    own = selfplay.compose_settings(architecture={"name": "mine:Net", "width": 8})
    assert own.architecture == {"name": "mine:Net", "width": 8}
    with pytest.raises(SettingError) as error:
        selfplay.compose_settings(["architecture=mine:Net", "architecture.width=8"])
    assert str(error.value).endswith("an option of a network of your own is written +architecture.width=VALUE")
    assert selfplay.compose_settings(["architecture=mine:Net", "+architecture.width=8"]) == own


def test_a_level_that_was_copied_under_another_number_is_refused(run_copy: Path) -> None:
    shutil.copytree(run_copy / "level_02", run_copy / "level_04")
    path = run_copy / "level_04" / "agent.safetensors"
    with pytest.raises(InvalidFileError, match=f"{path}: is level 2, not 4; learn level 4 again, or delete its folder"):
        selfplay.load_level(run_copy, 4)
    assert selfplay.load_level(run_copy, 3).name == "level 3"
