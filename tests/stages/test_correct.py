"""The stage of corrections: a corrected level is proved to win, also after an interruption; refusals."""

import random
import re
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from selfplay.agents.checkpoints import save_checkpoint
from selfplay.agents.pretrained import pretrained_agent
from selfplay.architectures import build_network
from selfplay.errors import SettingError, StageError
from selfplay.games import Game, make_game
from selfplay.grading.measures import play_against_perfect
from selfplay.matches.series import Series
from selfplay.named_players.make import make_player
from selfplay.players.perfect import whole_game_solver_player
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.saved_arrays import save_arrays
from selfplay.settings.common import GameSettings
from selfplay.settings.matches import CorrectionSettings
from selfplay.stages.correct import correct_and_prove
from selfplay.stages.prove import prove_and_report
from selfplay.training.corrections import Corrected, Corrections
from tests.grading.test_winning_proof import STARTS, proof_settings
from tests.support.kills import is_killed_at_change
from tests.support.rejections import assert_file_rejected
from tests.support.runs import files_of

GAME = make_game("connect_four")
WON, SYMMETRIC = "32144242264373625427", "3256236525634451373157"
TABLES = {"name": "ntuple", "walks": 20, "walk_length": 6, "symmetries": "mirror", "parities": True, "drops": True}
PLAYER = "search:negascout?depth=1&evaluation=level:1"
PROVED = "is proved to win moving first against every play"


def new_run(path: Path, game: Game = GAME, **tables: Any) -> Path:
    """A run with one level, whose weights are random."""
    architecture = TABLES | tables
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    with torch.no_grad():
        network.weight.copy_(0.1 * torch.randn(network.weight.shape, generator=torch.Generator().manual_seed(1)))
    agent = RunFolder(path).agent(1)
    agent.parent.mkdir()
    save_checkpoint(agent, network, game, 1, architecture, {})
    return path


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return new_run(tmp_path)


def settings(run_dir: Path, **values: Any) -> CorrectionSettings:
    defaults = {"game": GameSettings("connect_four"), "after": WON, "endgame": 0, "table_bits": 10}
    return CorrectionSettings(run_dir=str(run_dir), **(defaults | values))


@pytest.mark.parametrize(
    ("after", "symmetries"),
    [
        (WON, "mirror"),
        pytest.param(SYMMETRIC, "mirror", marks=pytest.mark.slow),
        (SYMMETRIC, "none"),
    ],
)
def test_a_level_is_corrected_until_it_is_proved_to_win(tmp_path: Path, after: str, symmetries: str) -> None:
    """Mirror images have different mistakes where the tables do not give them the same value."""
    run_dir = new_run(tmp_path, symmetries=symmetries)
    assert "gives the win away" in prove_and_report(proof_settings(run_dir, player=PLAYER, after=after))
    report = correct_and_prove(settings(run_dir, after=after))
    assert f"{PLAYER} after {after} {PROVED}." in report
    assert correct_and_prove(settings(run_dir, after=after)) == report


def test_a_level_is_corrected_against_the_best_replies_only(tmp_path: Path) -> None:
    """It may still give the win away after a worse reply."""
    run_dir = new_run(tmp_path, symmetries="none")
    after, proof = SYMMETRIC, {"player": PLAYER, "after": SYMMETRIC}
    assert "gives the win away" in prove_and_report(proof_settings(run_dir, **proof, replies="best"))
    report = correct_and_prove(settings(run_dir, after=after, replies="best"))
    assert f"{PLAYER} after {after} is proved to win moving first against every best reply." in report
    corrected = run_dir / "corrected"
    assert "gives the win away" in prove_and_report(proof_settings(corrected, **proof))


@pytest.mark.slow
def test_the_agent_that_comes_with_the_program_wins_every_match_against_perfect_play(tmp_path: Path) -> None:
    shutil.copytree(pretrained_agent("connect_four").parent.parent, tmp_path / "run")
    report = correct_and_prove(settings(tmp_path / "run", after="", replies="best", table_bits=22))
    assert "level:15 is proved to win moving first against every best reply." in report
    corrected = tmp_path / "run" / "corrected"
    assert RunFolder(corrected).agent(15).stat().st_size < 5_000_000
    perfect = whole_game_solver_player(GAME)
    assert perfect is not None
    players = {15: make_player("level:15", GAME, corrected)}
    first, _ = play_against_perfect(perfect, players, Series(range(20), 5, alternate=False))[15]
    assert first == (20, 0, 0)


@pytest.mark.parametrize(
    "few", [{"walks": 12, "walk_length": 6}, pytest.param({"walks": 5, "walk_length": 8}, marks=pytest.mark.slow)]
)
def test_positions_that_tables_cannot_tell_apart_are_avoided(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, few: dict[str, int]
) -> None:
    caplog.set_level("INFO")
    assert PROVED in correct_and_prove(settings(new_run(tmp_path, **few)))
    assert re.search(r"mistakes: [^;]*[1-9]; back to avoid them in [1-9]", caplog.text)


def test_positions_that_the_walk_does_not_come_to_again_are_not_counted(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plies = [Corrected(0, 4, [0]), Corrected(2, 7, [1, 1, 1, 1], avoided=1), Corrected(0, 4, [1, 0])]
    monkeypatch.setattr(Corrections, "plies", lambda self: iter(plies))
    correct_and_prove(settings(run_dir))
    assert Manifest(run_dir / "corrected" / "level_01").sections["correction"]["counts"] == {"positions": 4}


def test_mistakes_that_cannot_be_corrected_are_reported(tmp_path: Path) -> None:
    run_dir = new_run(tmp_path, walks=1, walk_length=2)
    with pytest.raises(StageError, match=r"mistakes are left with \d+ empty squares; set endgame="):
        correct_and_prove(settings(run_dir))


def test_a_correction_that_is_resumed_ends_in_the_same_agent(run_dir: Path) -> None:
    correct_and_prove(settings(run_dir))
    corrected = files_of(run_dir / "corrected" / "level_01")
    assert sorted(corrected) == ["agent.safetensors", "manifest.json"]
    assert is_killed_at_change(12, correct_and_prove, settings(run_dir, force=True), below=run_dir)
    assert PROVED in correct_and_prove(settings(run_dir))
    assert files_of(run_dir / "corrected" / "level_01") == corrected


@pytest.mark.slow
def test_a_correction_killed_at_many_changes_of_its_files_ends_with_the_same_bytes(run_dir: Path) -> None:
    """Each correction continues the one that was killed before it."""
    correct_and_prove(settings(run_dir))
    expected = files_of(run_dir / "corrected")
    shutil.rmtree(run_dir / "corrected")
    chance, state, states = random.Random(7), run_dir / "corrected" / "level_01" / "corrections.npz", set()
    while is_killed_at_change(chance.randint(1, 12), correct_and_prove, settings(run_dir), below=run_dir):
        states.add(state.read_bytes() if state.exists() else b"")
    assert files_of(run_dir / "corrected") == expected
    assert len(states) > 2


@pytest.mark.slow
def test_nothing_of_the_state_is_left_after_a_kill_at_any_change_of_the_files_of_the_level(run_dir: Path) -> None:
    level, solved = run_dir / "corrected" / "level_01", {"endgame": 42}
    correct_and_prove(settings(run_dir, **solved))
    expected = files_of(level)
    for number in count(1):
        shutil.rmtree(level)
        if not is_killed_at_change(number, correct_and_prove, settings(run_dir, **solved), below=level):
            break
        correct_and_prove(settings(run_dir, **solved))
        assert files_of(level) == expected
    assert number > 5


@pytest.mark.slow
def test_the_state_of_a_correction_with_other_settings_is_not_resumed(run_dir: Path) -> None:
    """Neither by the next correction nor, if that is killed before it saves a state, by the one after it."""
    level, other = run_dir / "corrected" / "level_01", settings(run_dir, margin=0.3)
    correct_and_prove(other)
    expected = files_of(level)
    for number in range(1, 7):
        shutil.rmtree(level)
        assert is_killed_at_change(12, correct_and_prove, settings(run_dir), below=run_dir)
        assert (level / "corrections.npz").exists()
        assert is_killed_at_change(number, correct_and_prove, other, below=run_dir)
        correct_and_prove(other)
        assert files_of(level) == expected


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "weights of zero": lambda arrays: arrays | {"weights": np.zeros_like(arrays["weights"])},
    "weights of another shape": lambda arrays: arrays | {"weights": arrays["weights"][:, :-1]},
    "weights of another type": lambda arrays: arrays | {"weights": arrays["weights"].astype(np.float64)},
    "an array less": lambda arrays: {name: array for name, array in arrays.items() if not name.endswith("_good")},
    "exchanged arrays": lambda arrays: arrays | {"0_good": arrays["0_poor"], "0_poor": arrays["0_good"]},
    "nothing": lambda arrays: {},
}


HARMFUL: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda arrays: arrays | {"weights": arrays["weights"][:, :-1]}, "does not fit the tables of the level"),
    (
        lambda arrays: arrays | {"weights": arrays["weights"] * np.float32(np.nan)},
        "does not fit the tables of the level",
    ),
    (lambda arrays: {}, "does not fit the tables of the level"),
    (lambda arrays: arrays | {"x_good": arrays["0_good"]}, "has lessons of the unknown ply x"),
    (
        lambda arrays: arrays | {"0_good": arrays["0_good"] | -1},
        r"has no lessons of connect_four \(an action is not .*",
    ),
    (
        lambda arrays: {name: array for name, array in arrays.items() if name != "0_position"},
        "has no lessons of connect_four .*",
    ),
]
"""Changes of a state whose digest is right, and what is said."""


def test_a_changed_state_is_refused_in_one_line(run_dir: Path) -> None:
    assert is_killed_at_change(12, correct_and_prove, settings(run_dir), below=run_dir)
    state = run_dir / "corrected" / "level_01" / "corrections.npz"
    arrays = dict(np.load(state))
    digest = arrays.pop("sha256")
    for change in CHANGES.values():
        np.savez(state, sha256=digest, **change(arrays))
        with assert_file_rejected(state, "was changed, or belongs to another computation; force=true starts anew"):
            correct_and_prove(settings(run_dir))
    record = Manifest(state.parent).sections["unfinished"]["settings"]
    for change, reason in HARMFUL:
        save_arrays(state, change(arrays), record)
        with assert_file_rejected(state, f"{reason}; force=true starts anew"):
            correct_and_prove(settings(run_dir))
    state.write_bytes(state.read_bytes()[:-1])
    with assert_file_rejected(state, "cannot be read: .*; force=true starts anew"):
        correct_and_prove(settings(run_dir))
    assert PROVED in correct_and_prove(settings(run_dir, force=True))


def test_the_state_of_another_correction_is_refused(run_dir: Path) -> None:
    state = run_dir / "corrected" / "level_01" / "corrections.npz"
    assert is_killed_at_change(12, correct_and_prove, settings(run_dir, margin=0.3), below=run_dir)
    other = state.read_bytes()
    assert is_killed_at_change(12, correct_and_prove, settings(run_dir), below=run_dir)
    state.write_bytes(other)
    with assert_file_rejected(state, "belongs to another computation"):
        correct_and_prove(settings(run_dir))


def test_the_tables_need_no_correction_where_the_solver_decides(run_dir: Path) -> None:
    report = correct_and_prove(settings(run_dir, endgame=42))
    assert PROVED in report
    assert "its actions judged in 0 of them" in report


@pytest.mark.parametrize(
    ("seat", "result", "proved"),
    [
        ("first", "draw", "is proved not to lose moving first"),
        ("second", "loss", "moving second is proved never to lose by more or sooner than necessary"),
    ],
)
def test_a_level_is_corrected_from_a_start_that_is_not_won(run_dir: Path, seat: str, result: str, proved: str) -> None:
    values = {"seat": seat, "after": STARTS[seat, result]}
    before = prove_and_report(proof_settings(run_dir, player=PLAYER, **values))
    report = correct_and_prove(settings(run_dir, **values))
    assert proved in report
    assert proved not in before


def test_more_empty_squares_than_the_game_has_are_refused(run_dir: Path) -> None:
    with pytest.raises(SettingError, match="endgame=43: must be a number of empty squares from 0 to 42"):
        correct_and_prove(settings(run_dir, endgame=43))
    assert not (run_dir / "corrected" / "level_01" / "agent.safetensors").exists()


def test_games_with_passes_are_refused(tmp_path: Path) -> None:
    run_dir = new_run(tmp_path, make_game("othello"), drops=False)
    with pytest.raises(SettingError, match="only games without passes"):
        correct_and_prove(settings(run_dir, game=GameSettings("othello"), after=""))


def test_a_run_without_levels_and_a_margin_at_which_values_are_equal_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="has no level 1; it has no trained level yet"):
        correct_and_prove(settings(tmp_path))
    with pytest.raises(SettingError, match=r"margin=50: must be above 0 and at most 1"):
        settings(tmp_path, margin=50)
