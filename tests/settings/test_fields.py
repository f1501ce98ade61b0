"""What the fields of settings declare: records of stages, and defaults for settings missing in a record."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from selfplay.settings.fields import affects, stage_record
from tests.support.runs import tiny_settings


@dataclass
class Section:
    plain: int = 1
    renamed: int = field(default=2, metadata=affects("one", recorded_as="other.name"))


@dataclass
class Example:
    always: int = field(default=0, metadata=affects("one", "two"))
    above: list[int] = field(default_factory=lambda: [1], metadata=affects("one", when=lambda _, level: level > 0))
    rare: str = field(default="no", metadata=affects("one", unless_default=True))
    section: Section = field(default_factory=Section, metadata=affects("two"))
    unused: str = "any"


def test_a_record_has_the_fields_that_affect_the_stage() -> None:
    assert stage_record(Example(), "one") == {"always": 0, "other": {"name": 2}}
    assert stage_record(Example(rare="yes"), "one", level=1) == {
        "always": 0,
        "above": [1],
        "rare": "yes",
        "other": {"name": 2},
    }


def test_a_section_passes_what_it_affects_to_its_fields() -> None:
    assert stage_record(Example(), "two") == {"always": 0, "section": {"plain": 1, "renamed": 2}}


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
