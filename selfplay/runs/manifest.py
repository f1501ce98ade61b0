"""The manifest of a level or a run: for each stage its settings, inputs, counts and the SHA-256 of its files."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from selfplay.errors import InvalidFileError, StageError
from selfplay.runs.written_files import sha256, written_whole

MANIFEST_FORMAT = 1


class Manifest:
    """manifest.json of a level or a run: for each stage its settings, inputs, counts and the SHA-256 of its files.

    Raises InvalidFileError if the file is there but is not a manifest.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "manifest.json"
        self.sections: dict[str, Any] = {}
        if self.path.exists():
            try:
                content = json.loads(self.path.read_text())
                if content["format"] != MANIFEST_FORMAT:
                    raise ValueError
                self.sections = {name: content[name] for name in content if name != "format"}
                if not all({"settings", "files"} <= section.keys() for section in self.sections.values()):
                    raise ValueError
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InvalidFileError(self.path, "is no manifest of this format; delete it and run again") from error

    def is_done(self, stage: str, settings: Mapping[str, Any], *, force: bool) -> bool:
        """Whether the stage's files are there and were made with these settings.

        Raises StageError, naming what differs, if they were made with others or were changed since; with `force`
        the answer is then False.
        """
        section = self.sections.get(stage)
        if section is None:
            return False
        was, now = flat_settings(section["settings"]), flat_settings(settings)
        differing = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        there = {name: digest for name, digest in section["files"].items() if (self.folder / name).exists()}
        changed = [name for name, digest in there.items() if sha256(self.folder / name) != digest]
        if (differing or changed) and not force:
            what = ", ".join(f"{name} was {_brief(was.get(name))}, is {_brief(now.get(name))}" for name in differing)
            raise StageError(
                f"{self.folder}: {what or f'{changed[0]} is not the file that was made'}; "
                "give another run_dir, or force=true to make it again"
            )
        return not (differing or changed) and len(there) == len(section["files"])

    def forget(self, stage: str) -> None:
        """Take the stage's section out, so that a kill while its files are replaced leaves no wrong word."""
        if self.sections.pop(stage, None) is not None:
            self._write()

    def record(self, stage: str, settings: Mapping[str, Any], counts: Mapping[str, int], files: list[str]) -> None:
        """Say that the stage is done."""
        self.sections[stage] = {
            "settings": dict(settings),
            "counts": dict(counts),
            "files": {name: sha256(self.folder / name) for name in files},
            "versions": {name: version(name) for name in ("selfplay", "torch", "numpy")},
        }
        self._write()

    def _write(self) -> None:
        with written_whole(self.path) as beside:
            beside.write_text(json.dumps({"format": MANIFEST_FORMAT, **self.sections}, indent=2, sort_keys=True) + "\n")


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names, as they are written on the command line."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= flat_settings(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def _brief(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
