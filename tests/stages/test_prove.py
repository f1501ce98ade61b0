"""The stage of proofs: files, resuming, changed players, several processes, messages, the program."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import NotNowError, SettingError
from selfplay.games import Game, State
from selfplay.players.player import Player
from selfplay.runs.manifest import Manifest
from selfplay.runs.saved_arrays import save_arrays
from selfplay.settings.matches import ProofSettings
from selfplay.stages.prove import prove_and_report
from tests.grading.test_winning_proof import FIXED, STARTS, proof_settings, rows_of
from tests.support.kills import is_killed_at_change
from tests.support.rejections import assert_file_rejected, assert_refused
from tests.support.runs import COMMAND, files_of, run_forked

AFTER = STARTS["first", "draw"]
WHOLE = {"player": FIXED, "after": AFTER, "walk": "all", "part_positions": 10}


class OnlyPlays(Player):
    """Has no policy."""

    name = "only plays"

    def __init__(self, game: Game) -> None:
        pass

    def act(self, state: State, draws: Draws) -> torch.Tensor:
        raise NotImplementedError


def small_proof(folder: Path, **values: Any) -> ProofSettings:
    return proof_settings(folder, **WHOLE, **values)


@pytest.mark.slow
def test_a_walk_killed_at_many_changes_of_its_files_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Each walk continues the one that was killed before it."""
    prove_and_report(small_proof(tmp_path / "whole"))
    expected = files_of(tmp_path / "whole")
    assert sorted(expected) == [f"proof/{name}" for name in ("manifest.json", "plies.csv", "proof.csv")]
    folder, chance, resumed = tmp_path / "killed", random.Random(7), set()
    while is_killed_at_change(chance.randint(1, 12), prove_and_report, small_proof(folder), below=folder):
        plies = folder / "proof" / "plies.csv"
        resumed.add(len(rows_of(plies)) if plies.exists() else 0)
    assert files_of(folder) == expected
    assert len(resumed) > 3


def test_a_walk_is_not_continued_from_changed_or_exchanged_files(tmp_path: Path) -> None:
    assert is_killed_at_change(27, prove_and_report, small_proof(tmp_path), below=tmp_path / "proof")
    walk = tmp_path / "proof" / "walk"
    kept = {path: path.read_bytes() for path in walk.iterdir()}
    newest = max(walk.glob("ply_*"))
    for path in (newest, walk / "finished.npz", min(walk.glob("judged_*"))):
        arrays = dict(np.load(path))
        name = next(name for name in arrays if name != "sha256")
        np.savez(path, **arrays | {name: np.append(arrays[name], arrays[name])})
        with assert_file_rejected(path, "was changed, or belongs to another computation; force=true starts anew"):
            prove_and_report(small_proof(tmp_path))
        path.write_bytes(kept[path])
    record = Manifest(walk.parent).sections["walk"]["settings"]
    for name, array, value in (("ply_*", "position", -1), ("ply_*", "parents", -1), ("judged_*", "actions", 99)):
        path = max(walk.glob(name))
        arrays = {key: value for key, value in np.load(path).items() if key != "sha256"}
        save_arrays(path, arrays | {array: np.full_like(arrays[array], value)}, record)
        with assert_file_rejected(path, "cannot be continued: .*; force=true starts anew"):
            prove_and_report(small_proof(tmp_path))
        path.write_bytes(kept[path])
    for text, reason in (("[[1, 2]]", "is not a list of what was found in each ply"), ("[", "is not a list")):
        save_arrays(walk / "finished.npz", {"plies": np.array(text)}, record)
        with assert_file_rejected(walk / "finished.npz", reason):
            prove_and_report(small_proof(tmp_path))
    (walk / "finished.npz").write_bytes(kept[walk / "finished.npz"])
    newest.write_bytes(kept[min(walk.glob("ply_*"))])
    with assert_file_rejected(newest, "was changed, or belongs to another computation"):
        prove_and_report(small_proof(tmp_path))


def test_a_finished_walk_is_skipped_and_reported_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    report = prove_and_report(small_proof(tmp_path))

    def times() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name != "run.log"}

    before = times()
    assert prove_and_report(small_proof(tmp_path)) == report
    assert "already walked, skipped; force=true walks again" in caplog.text
    assert times() == before
    assert prove_and_report(small_proof(tmp_path, force=True)) == report
    assert times() != before


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"game": "othello"}, SettingError, "up to 30 empty squares, and the start has 60"),
        ({"player": f"{__name__}:OnlyPlays"}, NotNowError, "only plays only plays matches"),
        ({"after": "1212121"}, SettingError, "after=1212121: the match is over there"),
        ({"seat": "third"}, SettingError, "^seat=third: must be first or second"),
    ],
)
def test_what_cannot_be_walked_is_refused(
    tmp_path: Path, values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        prove_and_report(proof_settings(tmp_path, **{"player": "random", **values}))


def test_the_program_prints_the_report(tmp_path: Path) -> None:
    done = run_forked(
        COMMAND, "prove", "player=perfect?ties=lowest", f"after={STARTS['first', 'win']}", f"run_dir={tmp_path}"
    )
    assert done.returncode == 0, done.stderr
    assert "is proved to win moving first against every play." in done.stdout
    folder = tmp_path / "comparison" / "proofs" / f"perfect_ties_lowest_first_{STARTS['first', 'win']}"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "plies.csv", "proof.csv"]
    assert_refused(
        run_forked(COMMAND, "prove", "seat=third", f"run_dir={tmp_path}"), 2, "seat=third", "first or second"
    )
