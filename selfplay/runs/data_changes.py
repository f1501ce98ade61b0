"""The levels of a run at which the matches that levels are trained on change in kind, from the levels' manifests."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from selfplay.runs.manifest import Manifest, flat_settings
from selfplay.runs.run_folder import RunFolder

WITHIN_A_KIND = ("level", "seed", "threads", "format", "shard_matches", "agent_sha256", "opponents_sha256")
"""Recorded settings of a dataset that differ from level to level, or do not change its kind."""


class TrainingData(NamedTuple):
    """What a level was trained on."""

    datasets: range
    """The levels whose matches it was trained on."""
    newest: Mapping[str, Any]
    """The recorded settings of the newest of these datasets."""


def data_changes(run: RunFolder, levels: Sequence[int]) -> dict[int, str]:
    """By level, how its training data differ in kind from those of the level before it, where they do.

    Such a change explains a step in the losses. Levels whose training is not recorded are left out. Raises
    InvalidFileError if a manifest is broken.
    """
    found = ((level, training_data(run, level)) for level in levels)
    changes = {}
    for (_, before), (level, now) in pairwise((level, data) for level, data in found if data is not None):
        if parts := [*_of_datasets(before, now), *_of_settings(before, now)]:
            changes[level] = "; ".join(parts)
    return changes


def training_data(run: RunFolder, level: int) -> TrainingData | None:
    """What a level was trained on; None if this is not recorded. Raises InvalidFileError."""
    trained = Manifest(run.level(level)).sections.get("training")
    generated = Manifest(run.level(level - 1)).sections.get("generation")
    if trained is None or generated is None:
        return None
    replayed = len(trained["settings"].get("replayed_sha256", ()))
    return TrainingData(range(level - 1 - replayed, level), generated["settings"])


def _of_datasets(before: TrainingData, now: TrainingData) -> list[str]:
    found = []
    if len(before.datasets) == 1 < len(now.datasets):
        found.append("also on matches of earlier levels")
    if 0 in before.datasets and 0 not in now.datasets:
        found.append("no longer on random matches (level 0)")
    return found


def _of_settings(before: TrainingData, now: TrainingData) -> list[str]:
    """The settings of matches that differ. Level 0, which plays at random, has fewer settings and is not compared."""
    if before.datasets[-1] == 0:
        return []
    old, new = flat_settings(before.newest), flat_settings(now.newest)
    names = [name for name in {**old, **new} if name not in WITHIN_A_KIND and old.get(name) != new.get(name)]
    return [f"{name} was {old.get(name)}, is {new.get(name)}" for name in names]
