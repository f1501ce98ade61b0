"""The manifest of a level or a run: for each stage its settings, inputs, counts and the SHA-256 of its files.

If settings name code from outside this program, such as a game of one's own, the digest of that code is kept too.
Settings name it as `module:attribute`, or by the name under which an installed package offers it.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from selfplay.code_identity import digests_by_module, outside_identity
from selfplay.errors import InvalidFileError, StageError, shortened
from selfplay.files import FileFormat, sha256, written_whole
from selfplay.installation import recorded_versions
from selfplay.registry import outside_parts

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

CODE = "code"
"""The entry with the code in a record."""


@with_config(ConfigDict(strict=True, extra="allow"))
class RecordedCode(TypedDict):
    """What is recorded of code from outside."""

    python: str
    """The version of Python, such as 3.11: what another one makes of the same source differs."""
    sha256: Sha256
    """The digest of all of it together."""
    modules: dict[str, Sha256]
    """The digests of what it uses of each module."""


def code_of(record: object) -> dict[str, RecordedCode]:
    """The code from outside that a record names, as an entry for the record; empty if there is none."""
    parts = outside_parts([*texts_in(record)])
    if not parts:
        return {}
    identity = outside_identity([part for _, part in sorted(parts.items())])
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {CODE: {"python": version, "sha256": identity.digest, "modules": digests_by_module(identity)}}


def changed_code(was: RecordedCode | None, record: object) -> str:
    """What has changed in the code from outside that a record names, as text; empty if nothing has.

    Args:
        was: what was recorded of it; None: nothing, so that it counts as the same.
    """
    now = code_of(record).get(CODE)
    if was is None or now is None or was["python"] != now["python"] or was["sha256"] == now["sha256"]:
        return ""
    before, after = was["modules"], now["modules"]
    names = [name for name in after if before.get(name) != after[name]] or list(after)
    files = [file for name in names if (file := getattr(sys.modules.get(name), "__file__", None))]
    return f"the code of {', '.join(files or names)} has changed, or a value that it uses"


def texts_in(value: object) -> Iterator[str]:
    """All texts in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts_in(inner)


MANIFEST_FORMAT = 2

RUN = "run"
"""The section of the settings of a run."""

RelativePath = Annotated[str, Field(pattern=r"^[^/.\x00][^/\x00]*(/[^/.\x00][^/\x00]*)*$")]
"""The path of a file below the folder of the manifest."""

EXTENSIBLE = ConfigDict(strict=True, extra="allow")


@with_config(EXTENSIBLE)
class RecordedSettings(TypedDict, total=False):
    """The types of the recorded settings that are used for more than comparing them."""

    agent_sha256: Sha256
    dataset_sha256: Sha256
    start_sha256: Sha256
    agents_sha256: list[Sha256]
    replayed_sha256: list[Sha256]
    opponents_sha256: list[Sha256]


@with_config(EXTENSIBLE)
class Section(TypedDict):
    """What is recorded of a stage. It also has counts and versions, which are only shown."""

    settings: RecordedSettings
    """By their dotted names."""
    files: dict[RelativePath, Sha256 | None]
    """The digests of a stage's files; null for a file that may change, see `Manifest.release`."""
    code: NotRequired[RecordedCode]
    """The code from outside this program that the stage used."""


class ManifestFile(BaseModel):
    """The content of a manifest: its format, and a section for each stage, by its name."""

    model_config = EXTENSIBLE
    __pydantic_extra__: dict[str, Section]
    format: Literal[2]


MANIFEST = FileFormat(
    "a manifest of this format", ManifestFile, remedy="; delete it if this program wrote it, or use another folder"
)

REMEDY = "restore it, or let the program that made it replace it (force=true)"


class Manifest:
    """manifest.json of a level or a run: for each stage its settings, inputs, counts and the SHA-256 of its files.

    Raises InvalidFileError if the file exists but is not a manifest.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "manifest.json"
        self.sections: dict[str, Any] = {}
        if self.path.exists():
            content = MANIFEST.read_json(self.path)
            self.sections = dict(content.__pydantic_extra__)

    def is_done(
        self,
        stage: str,
        settings: Mapping[str, Any],
        defaults: Mapping[str, object] = MappingProxyType({}),
        *,
        force: bool,
        names: object = (),
    ) -> bool:
        """Whether the stage's files exist and were made with these settings, and with the code that they name.

        Args:
            settings: by their dotted names, as they will be recorded.
            defaults: what settings are where they are not recorded.
            force: return False where StageError would be raised, and if a file was released.
            names: texts that name further code, see `selfplay.runs.stage.Stage`.

        Raises StageError, naming the difference, if the files were made with other settings or code, or were changed
        since.
        """
        section = self.sections.get(stage)
        if section is None:
            return False
        what = _differences(section, dict(settings), defaults) or self.changed_code(stage, [settings, names])
        there = {name: digest for name, digest in section["files"].items() if (self.folder / name).exists()}
        changed = [name for name, digest in there.items() if digest not in (None, sha256(self.folder / name))]
        if (what or changed) and not force:
            raise StageError(
                f"{self.folder}: {what or f'{changed[0]} was changed after it was made'}; "
                "set another run_dir, or force=true to replace it"
            )
        is_replaced = force and None in there.values()
        return not (what or changed or is_replaced) and len(there) == len(section["files"])

    def changed_code(self, stage: str, record: object) -> str:
        """What has changed in the code that a record names since the stage used it, as text; empty if nothing has."""
        return changed_code(self.sections.get(stage, {}).get(CODE), record)

    def forget(self, stage: str) -> None:
        """Remove the section of the stage. Otherwise a kill while its files are replaced would leave a false record."""
        if self.sections.pop(stage, None) is not None:
            self._write()

    def release(self, stage: str, file: str) -> None:
        """Remove the digest of a file of the stage, because the file may change from now on."""
        files = self.sections.get(stage, {}).get("files", {})
        if files.get(file) is not None:
            files[file] = None
            self._write()

    def record(
        self,
        stage: str,
        settings: Mapping[str, Any],
        counts: Mapping[str, int],
        files: list[str],
        names: object = (),
    ) -> None:
        self.sections[stage] = {
            "settings": dict(settings),
            "counts": dict(counts),
            "files": {name: sha256(self.folder / name) for name in files},
            "versions": recorded_versions("torch", "numpy"),
            **code_of([settings, names]),
        }
        self._write()

    def _write(self) -> None:
        with written_whole(self.path) as beside:
            beside.write_text(json.dumps({"format": MANIFEST_FORMAT, **self.sections}, indent=2, sort_keys=True) + "\n")


def check_against_manifest(path: Path, folder: Path | None = None, remedy: str = REMEDY) -> None:
    """Raise InvalidFileError if a manifest records another SHA-256 for the file at `path`.

    Files that no manifest describes are accepted, such as copies.

    Args:
        folder: the folder of the manifest; None: that of the file.
        remedy: what the user can do, as the end of the message.
    """
    folder = folder or path.parent
    for section in Manifest(folder).sections.values():
        digest = section["files"].get(str(path.relative_to(folder)))
        if digest is not None and path.exists() and sha256(path) != digest:
            raise InvalidFileError(path, f"differs from its manifest; {remedy}")


def digests_of(files: Sequence[Path], *, newest: str, others: str) -> dict[str, Any]:
    """The SHA-256 of the last of these files as `newest`, and those of the files before it as `others`, if any."""
    if not files:
        return {}
    *before, last = [sha256(path) for path in files]
    return {newest: last} | ({others: before} if before else {})


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names, as on the command line."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= flat_settings(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def _differences(section: Section, now: Mapping[str, Any], defaults: Mapping[str, object]) -> str:
    """The settings that differ from those of a section, with both values, as text; empty if none does."""
    was: Mapping[str, Any] = section["settings"]
    pairs = {
        name: tuple(of[name] if name in of else defaults.get(name) for of in (was, now)) for name in {**was, **now}
    }
    return ", ".join(
        f"{name} was {shortened(json.dumps(a))}, is {shortened(json.dumps(b))}"
        for name, (a, b) in pairs.items()
        if a != b
    )
