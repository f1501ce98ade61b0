"""The levels of a run at which the matches that levels are trained on change in kind, from the levels' manifests."""

from collections.abc import Sequence
from itertools import pairwise

from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder

WITHIN_A_KIND = ("level", "seed", "dataset.format", "agent_sha256", "opponents_sha256")
"""Recorded settings of a dataset that differ from level to level, or do not change its kind."""


def data_changes(run: RunFolder, levels: Sequence[int]) -> dict[int, str]:
    """By level, how its training data differ in kind from those of the level before it, if they do.

    Such a change explains a step in the losses. Levels whose training is not recorded are left out. Raises
    InvalidFileError if a manifest is broken.
    """
    found = []
    for level in levels:
        trained = Manifest(run.level(level)).sections.get("training")
        generated = Manifest(run.level(level - 1)).sections.get("generation")
        if trained is not None and generated is not None:
            replayed = len(trained["settings"].get("replayed_sha256", ()))
            found.append((level, range(level - 1 - replayed, level), generated["settings"]))
    changes = {}
    for (_, before, old), (level, now, new) in pairwise(found):
        parts = ["also on matches of earlier levels"] if len(before) == 1 < len(now) else []
        if 0 in before and 0 not in now:
            parts.append("no longer on random matches (level 0)")
        # Level 0 plays at random whatever the settings are.
        names = () if before[-1] == 0 else [name for name in old if name in new]
        differing = (name for name in names if name not in WITHIN_A_KIND and old.get(name) != new.get(name))
        parts += [f"{name} was {old.get(name)}, is {new.get(name)}" for name in differing]
        if parts:
            changes[level] = "; ".join(parts)
    return changes
