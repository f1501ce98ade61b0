"""The stage that generates matches: opponents, formats, replay, and cut matches."""

import numpy as np
import pytest
import torch

from selfplay import generate_level, learn_levels, train_level
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.learners.pool import drawn_opponents
from selfplay.runs.levels import load_agent
from selfplay.runs.run_folder import RunFolder
from tests.support.dataset_tools import read_dataset
from tests.support.runs import files_of, tiny_settings


def rows_of(run_dir, level, form="csv"):
    return read_dataset(RunFolder(run_dir).dataset(level, form), make_game("tictactoe").observation_codec)


def test_half_of_the_matches_with_the_pool_are_self_play(tiny_run, tmp_path):
    settings = tiny_settings(tiny_run, "learner.opponents=pool", f"output_dir={tmp_path}")
    generate_level(settings, 1)
    key = stream_key(settings.seed, 1, Activity.GENERATION)
    others = drawn_opponents(key, torch.arange(300), 1).numpy() != 1
    assert 100 < others.sum() < 200
    codec = make_game("tictactoe").observation_codec
    mine, alone = read_dataset(tmp_path / "dataset.csv", codec), rows_of(tiny_run, 1)
    changed = {
        match
        for match in range(300)
        if not np.array_equal(mine.position[mine.match == match], alone.position[alone.match == match])
    }
    assert changed <= set(np.flatnonzero(others).tolist())
    assert len(changed) > 80


@pytest.mark.slow
def test_against_the_pool_batches_and_shards_change_no_byte(tiny_run, tmp_path):
    run = tmp_path / "run"
    learn_levels(tiny_settings(run, "learner.opponents=pool", "levels=2"))
    for name, overrides in {"one": [], "other": ["batch_size=37", "dataset.shard_matches=100"]}.items():
        generate_level(tiny_settings(run, "learner.opponents=pool", f"output_dir={tmp_path / name}", *overrides), 2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    rows = read_dataset(tmp_path / "one" / "dataset.csv", make_game("tictactoe").observation_codec)
    assert (np.diff(rows.match) >= 0).all()
    assert set(rows.match) == set(range(300))
    # Level 0 has no opponents but itself.
    own, pool = RunFolder(tiny_run), RunFolder(run)
    assert pool.dataset(0).read_bytes() == own.dataset(0).read_bytes()
    assert pool.dataset(1).read_bytes() != own.dataset(1).read_bytes()


def test_both_formats_have_the_same_rows_and_train_the_same_network(tiny_run, tmp_path):
    learn_levels(tiny_settings(tmp_path, "dataset.format=parquet", "levels=2"))
    for one, other in zip(rows_of(tmp_path, 1, "parquet"), rows_of(tiny_run, 1), strict=True):
        assert np.array_equal(one, other)
    agents = [RunFolder(run_dir).agent(2).read_bytes() for run_dir in (tmp_path, tiny_run)]
    assert agents[0] == agents[1]
    assert not RunFolder(tmp_path).dataset(1).exists()


def test_a_level_learns_from_the_datasets_that_are_replayed(tiny_run, tmp_path):
    settings = tiny_settings(tmp_path, "learner.replay=1")
    learn_levels(settings)
    own, replayed = (RunFolder(run_dir) for run_dir in (tiny_run, tmp_path))
    assert replayed.agent(1).read_bytes() == own.agent(1).read_bytes()
    assert replayed.agent(2).read_bytes() != own.agent(2).read_bytes()
    replayed.dataset(0).unlink()
    with pytest.raises(StageError, match=r"level_00/dataset.csv does not exist; generate the matches of level 0 first"):
        train_level(settings, 2)


def test_matches_that_are_cut_are_the_same_matches_with_other_targets(tiny_run, tmp_path):
    rule = "learner.targets=watkins"
    for name, more in (("whole", ["learner.targets=full"]), ("cut", [rule]), ("parted", [rule, "batch_size=37"])):
        generate_level(tiny_settings(tiny_run, f"output_dir={tmp_path / name}", *more), 1)
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "parted")
    codec = make_game("tictactoe").observation_codec
    one, other = (read_dataset(tmp_path / name / "dataset.csv", codec) for name in ("whole", "cut"))
    assert all(np.array_equal(a, b) for a, b in zip(one[:3], other[:3], strict=True))
    differing = one.target != other.target
    assert 0.1 < differing.mean() < 0.9
    last = np.append(one.match[1:] != one.match[:-1], True)
    assert not differing[last].any(), "no action follows the last one"


def test_shards_in_one_process_share_the_agent_that_plays(tiny_run, tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(
        "selfplay.stages.generate.load_agent",
        lambda path, *more: (loaded.append(path), load_agent(path, *more))[1],
    )
    generate_level(tiny_settings(tiny_run, f"output_dir={tmp_path / 'own'}", "dataset.shard_matches=100"), 1)
    assert loaded == [RunFolder(tiny_run).agent(1)]
    assert (tmp_path / "own" / "dataset.csv").read_bytes() == RunFolder(tiny_run).dataset(1).read_bytes()
