"""Sentences about levels that did not pass the gate and have the weights of the level before them."""

from typing import Any

from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings


def gate_text(settings: Settings) -> str:
    """A line for each level of the run that was not taken; empty if there is none.

    Raises InvalidFileError if the manifest of a level is broken.
    """
    run = RunFolder.of(settings)
    sections = {level: Manifest(run.level(level)).sections.get("training", {}) for level in run.trained_levels()}
    lines = [_sentence(level, section) for level, section in sections.items() if _is_rejected(section)]
    return "".join(f"{line}\n" for line in lines)


def _is_rejected(section: dict[str, Any]) -> bool:
    return bool(section.get("counts", {}).get("gate_taken") == 0)


def _sentence(level: int, section: dict[str, Any]) -> str:
    wins, draws, losses = (section["counts"].get(f"gate_{result}", 0) for result in ("wins", "draws", "losses"))
    gate = section["settings"].get("gate")
    return (
        f"Level {level} was not taken: it won {wins}, drew {draws} and lost {losses} matches against "
        f"level {level - 1}, too few for gate={gate}; it has the weights of level {level - 1}."
    )
