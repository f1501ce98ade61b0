"""Sizes and parameters of games: in their names, as settings, and in the rules of tic-tac-toe on larger boards."""

from pathlib import Path

import pytest
import torch

from selfplay import compose_settings, make_game
from selfplay.agents.checkpoints import load_checkpoint, save_checkpoint
from selfplay.architectures import build_network
from selfplay.compute.bit_algebra import word_of
from selfplay.compute.positions import packed_array
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import name_of_game
from selfplay.games.go import Go
from selfplay.names_of_games import parts_of_game_name
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.recorded import composed_for_run, record_run_settings
from selfplay.settings.run import Run
from tests.support.reversed_games import ReversedGo

SIZES = [4, 8]
REVERSED = "tests.support.reversed_games:ReversedGo"


# ---------------------------------------------------------------------- names and settings


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        (["game.size=4"], "tictactoe_4x4"),
        (["game=tictactoe_8x8"], "tictactoe_8x8"),
        (["game=othello_6x6", "game.size=8"], "othello"),
        (["game=go", "game.size=7", "game.komi=9"], "go_7x7"),
        (["game=go", "game.komi=-0.5"], "go_komi=-0.5"),
        (["game=go", "game.komi=-0.0"], "go_komi=0"),
        (["game=go_7x7_komi=-0"], "go_7x7_komi=0"),
        (["game=go_7x7_komi=5.5", "game.size=5"], "go_5x5_komi=5.5"),
        (["game=gomoku", "game.size=6", "game.height=5", "game.length=4"], "gomoku_6x6_height=5_length=4"),
        (["game=gomoku", "game.size=15", "game.exact=true"], "gomoku_15x15_exact=1"),
        (["game=gomoku_15x15_exact=1", "game.exact=false"], "gomoku_15x15"),
        ([f"game={REVERSED}", "game.size=3", "game.komi=2"], f"{REVERSED}_3x3_komi=2"),
    ],
)
def test_sizes_and_parameters_become_part_of_the_name_that_is_recorded(overrides, name):
    settings = compose_settings(overrides)
    assert settings.game.name == name
    assert settings.run_dir == str(PROJECT_FOLDER / "outputs" / name)
    base, size, parameters = parts_of_game_name(name)
    assert make_game(base, size, **parameters).name == make_game(name).name == name
    assert name_of_game(make_game(name)) == name


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["game.size=9"], "game.size=9: tictactoe has the sizes 3, 4, 5, 6, 7, 8"),
        (["game=sumto100", "game.size=4"], "game.size=4: sumto100 has a single board"),
        (["game.komi=4"], "game.komi=4: tictactoe has no parameters besides its size"),
        (["game=go", "game.length=4"], "game.length=4: go has the parameters komi"),
        (["game=go", "game.komi=high"], "game.komi=high: must be a number"),
        (["game=gomoku", "game.length=4.5"], "game.length=4.5: must be a whole number"),
        (["game=gomoku", "game.exact=2"], "game.exact=2: must be true or false"),
    ],
)
def test_a_size_or_parameter_that_a_game_does_not_have_is_refused(overrides, message):
    with pytest.raises(SettingError) as caught:
        compose_settings(overrides)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tictactoe_9x9", "size=9: tictactoe has"),
        ("go_komi=0.25", "komi=0.25: must be a multiple of 0.5"),
        ("gomoku_4x4_length=5", "length=5: must be from 2 to 4, the longer side"),
    ],
)
def test_a_name_of_a_board_that_does_not_exist_is_refused(name, message):
    with pytest.raises(SettingError, match=f"^{message}"):
        make_game(name)


@pytest.mark.parametrize(
    ("written", "name"),
    [("othello_8x8", "othello"), ("go_9x9", "go"), ("go_7x7_komi=9", "go_7x7"), ("go_5x5", "go_5x5")],
)
def test_a_game_has_a_single_name_however_it_is_written(written, name):
    assert make_game(written).name == name_of_game(make_game(written)) == name
    assert compose_settings([f"game={written}"]).game.name == name


def test_a_run_keeps_its_size_and_another_size_is_another_game(tmp_path: Path):
    folder = f"run_dir={tmp_path}"
    settings = compose_settings(["game.size=4", folder])
    record_run_settings(Run.of(settings).folder, settings)
    assert composed_for_run([folder]).game.name == "tictactoe_4x4"
    assert composed_for_run([folder, "game.size=5"]).game.name == "tictactoe_5x5"
    assert composed_for_run([folder, "game.size=3"]).game.name == "tictactoe"


def test_a_run_keeps_its_komi_and_an_agent_plays_with_every_komi_on_its_board(tmp_path: Path):
    folder = f"run_dir={tmp_path}"
    settings = compose_settings(["game=go", "game.size=3", "game.komi=2.5", folder])
    record_run_settings(Run.of(settings).folder, settings)
    assert composed_for_run([folder]).game.name == "go_3x3_komi=2.5"
    assert composed_for_run([folder, "game=go_3x3"]).game.name == "go_3x3"
    assert name_of_game(Go(3, 2.5)) == "go_3x3_komi=2.5"
    assert name_of_game(ReversedGo(3, 2.5)) == f"{REVERSED}_3x3_komi=2.5"
    game, path, architecture = make_game("go", 3, komi=2.5), tmp_path / "agent.safetensors", {"name": "mlp"}
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    save_checkpoint(path, network, game, 1, architecture, {})
    for of_board in (game, make_game("go", 3)):
        assert load_checkpoint(path, of_board).metadata["game"] == "go_3x3_komi=2.5"
    with pytest.raises(
        InvalidFileError, match=r"is for go_3x3_komi=2\.5, not for go_5x5; set game=go_3x3_komi=2\.5 \(agents"
    ):
        load_checkpoint(path, make_game("go", 5))


# ---------------------------------------------------------------------- larger boards


def drawn_lines(width):
    """The rows, columns and diagonals of a board, as squares that are counted from the drawing."""
    places = range(width)
    yield from ([(k, place) for place in places] for k in places)
    yield from ([(place, k) for place in places] for k in places)
    yield [(place, place) for place in places]
    yield [(place, width - 1 - place) for place in places]


@pytest.mark.parametrize("width", SIZES)
def test_exactly_the_full_rows_columns_and_diagonals_win(width):
    game = make_game("tictactoe", width)
    lines = [{width * row + column for row, column in line} for line in drawn_lines(width)]
    assert len(lines) == 2 * width + 2
    # Every line, and every set of squares that a single square less or another one in its place makes of it.
    tried = [
        line - {lost} | more for line in lines for lost in line for more in ({lost}, set(), {(lost + 5) % width**2})
    ]
    stones = [word_of(squares) for squares in tried]
    to_move, moved = (
        packed_array([game.rules.position(*pair) for pair in pairs])
        for pairs in ([(word, 0) for word in stones], [(0, word) for word in stones])
    )
    won = [any(line <= squares for line in lines) for squares in tried]
    assert game.state_at(torch.from_numpy(to_move)).terminated.tolist() == won
    assert game.state_at(torch.from_numpy(moved)).returns.tolist() == [-1.0 * is_won for is_won in won]


def test_a_full_board_without_a_line_is_a_draw_on_64_squares():
    game = make_game("tictactoe_8x8")
    crosses = [8 * row + column for row in range(8) for column in range(8) if (column // 2 + row) % 2]
    own = word_of(crosses)
    state = game.state_at(torch.from_numpy(packed_array([game.rules.position(own, ~own)])))
    assert (state.terminated.tolist(), state.returns.tolist()) == ([True], [0.0])
