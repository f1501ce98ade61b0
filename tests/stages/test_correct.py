"""The stage of corrections: a corrected level is proved to win, also after an interruption; refusals."""

import random
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from selfplay.architectures import build_network
from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.runs.checkpoints import save_checkpoint
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.matches import CorrectionSettings
from selfplay.stages.correct import correct_and_prove
from selfplay.stages.prove import prove_and_report
from tests.grading.test_winning_proof import STARTS, proof_settings
from tests.support.kills import is_killed_at_change
from tests.support.runs import files_of

GAME = make_game("connect_four")
WON, SYMMETRIC = "32144242264373625427", "3256236525634451373157"
TABLES = {"name": "ntuple", "walks": 60, "symmetries": "mirror", "parities": True, "drops": True}
PROVED = "is proved to win moving first against every play"


def new_run(path: Path, **tables: Any) -> Path:
    """A run with one level, whose weights are random."""
    architecture = TABLES | tables
    network = build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions)
    with torch.no_grad():
        network.weight.copy_(0.1 * torch.randn(network.weight.shape, generator=torch.Generator().manual_seed(1)))
    agent = RunFolder(path).agent(1)
    agent.parent.mkdir()
    save_checkpoint(agent, network, GAME, 1, architecture, {})
    return path


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return new_run(tmp_path)


def settings(run_dir: Path, **values: Any) -> CorrectionSettings:
    game = GameSettings("connect_four")
    defaults = {"after": WON, "endgame": 0, "steady_plies": 4, "table_bits": 10}
    return CorrectionSettings(run_dir=str(run_dir), game=game, **(defaults | values))


@pytest.mark.parametrize(("after", "symmetries"), [(WON, "mirror"), (SYMMETRIC, "mirror"), (SYMMETRIC, "none")])
def test_a_level_is_corrected_until_it_is_proved_to_win(tmp_path: Path, after: str, symmetries: str) -> None:
    """Mirror images have different mistakes where the tables do not give them the same value."""
    run_dir = new_run(tmp_path, symmetries=symmetries)
    assert "gives the win away" in prove_and_report(proof_settings(run_dir, player="level:1", after=after))
    report = correct_and_prove(settings(run_dir, after=after))
    assert f"level:1 after {after} {PROVED}." in report
    assert correct_and_prove(settings(run_dir, after=after)) == report


def test_more_walks_separate_positions_that_the_tables_cannot(tmp_path: Path) -> None:
    run_dir = new_run(tmp_path, walks=1, walk_length=2)
    more = {"more_walks": 60, "walk_length": 8}
    for values in ({"rounds": 3}, {"rounds": 1, **more}):
        with pytest.raises(StageError, match="mistakes are left"):
            correct_and_prove(settings(run_dir, **values))
    assert PROVED in correct_and_prove(settings(run_dir, **more))


def test_a_correction_that_is_resumed_ends_in_the_same_agent(run_dir: Path) -> None:
    with pytest.raises(StageError, match="mistakes are left after 1 rounds"):
        correct_and_prove(settings(run_dir, rounds=1))
    assert PROVED in correct_and_prove(settings(run_dir))
    resumed = files_of(run_dir / "corrected" / "level_01")
    assert sorted(resumed) == ["agent.safetensors", "manifest.json"]
    correct_and_prove(settings(run_dir, force=True))
    assert files_of(run_dir / "corrected" / "level_01") == resumed


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


def test_nothing_of_the_state_is_left_after_a_kill_at_any_change_of_the_files_of_the_level(run_dir: Path) -> None:
    level, solved = run_dir / "corrected" / "level_01", {"endgame": 42, "rounds": 1}
    correct_and_prove(settings(run_dir, **solved))
    expected = files_of(level)
    for number in count(1):
        shutil.rmtree(level)
        if not is_killed_at_change(number, correct_and_prove, settings(run_dir, **solved), below=level):
            break
        correct_and_prove(settings(run_dir, **solved))
        assert files_of(level) == expected
    assert number > 5


def test_the_tables_need_no_correction_where_the_solver_decides(run_dir: Path) -> None:
    report = correct_and_prove(settings(run_dir, endgame=42, rounds=1))
    assert PROVED in report
    assert "its actions judged in 0 of them" in report


@pytest.mark.parametrize(
    ("seat", "result", "proved"),
    [
        ("first", "draw", "is proved not to lose moving first"),
        ("second", "loss", "moving second is proved never to lose more or sooner than need be"),
    ],
)
def test_a_level_is_corrected_from_a_start_that_is_not_won(run_dir: Path, seat: str, result: str, proved: str) -> None:
    values = {"seat": seat, "after": STARTS[seat, result]}
    before = prove_and_report(proof_settings(run_dir, player="level:1", **values))
    report = correct_and_prove(settings(run_dir, **values))
    assert proved in report
    assert proved not in before
