"""What the fields of settings declare: records of stages, and defaults for settings missing in a record."""

from pathlib import Path
from typing import Any

from selfplay.settings.fields import stage_record
from tests.support.runs import tiny_settings


def recorded(stage: str, level: int, *overrides: str) -> dict[str, Any]:
    return stage_record(tiny_settings(Path("x"), *overrides), stage, level=level)


def test_the_random_player_does_not_depend_on_how_levels_play() -> None:
    given = ["player.depth=2", "epsilons=[0.1]", "threads=2", "targets=watkins"]
    assert recorded("generation", 0, *given) == recorded("generation", 0)
    assert recorded("generation", 1, *given).keys() - recorded("generation", 1, "targets=full").keys() == {"targets"}


def test_matches_affect_training_only_where_datasets_are_replayed() -> None:
    assert "matches" not in recorded("training", 1, "dataset.replay=2")
    assert "matches" not in recorded("training", 2)
    assert recorded("training", 2, "dataset.replay=2")["matches"] == 300


def test_files_of_parquet_depend_on_the_size_of_shards() -> None:
    assert "shard_matches" not in recorded("generation", 0)
    assert recorded("generation", 0, "dataset.format=parquet")["shard_matches"] == 16384
