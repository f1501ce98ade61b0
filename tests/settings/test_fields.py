"""What the fields of settings declare: records of stages."""

from pathlib import Path

from selfplay.settings.common import run_record, stage_record
from tests.support.runs import tiny_settings


def test_a_stage_records_all_settings_that_it_reads_by_their_names_on_the_command_line() -> None:
    settings = tiny_settings(Path("x"), "dataset.shard_matches=9", "comparison.pair_seconds=3")
    generation, training = (stage_record(settings, stage) for stage in ("generation", "training"))
    assert {"game.name", "seed", "learner.gamma", "learner.name", "player.depth"} <= generation.keys()
    assert {"seed", "learner.schedule", "learner.name", "architecture.name"} <= training.keys()
    assert not {"dataset.shard_matches", "levels", "learner.epochs"} & generation.keys()


def test_a_run_records_what_stages_read_and_not_what_belongs_to_a_command() -> None:
    settings = tiny_settings(Path("x"), "dataset.shard_matches=9", "comparison.pair_seconds=3")
    record = run_record(settings)
    assert record["levels"] == settings.levels
    assert not {"comparison.pair_seconds", "logger", "run_dir", "threads", "dataset.shard_matches"} & record.keys()
