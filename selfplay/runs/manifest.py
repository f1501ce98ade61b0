"""The manifest of a level or a run: for each stage its settings, inputs, counts and the SHA-256 of its files.

By it a stage is skipped if its files are there and were made with the same settings and code, or made. One that is
interrupted may keep what it has found so far, and continues from it.

If settings name code from outside this program, such as a game of one's own, the digest of that code is kept too.
Settings name it as `module:attribute`, or by the name under which an installed package offers it.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from selfplay.code_identity import RecordedCode, Sha256, changes_of_code, recorded_code
from selfplay.errors import InvalidFileError, StageError, shortened
from selfplay.files import FileFormat, remove_folder, sha256, written_whole
from selfplay.games import Game, digest_of_given
from selfplay.installation import recorded_versions
from selfplay.names_of_games import parts_of_game_name
from selfplay.registry import outside_parts

log = logging.getLogger(__name__)

CODE = "code"
"""The entry with the code in a record."""


def code_of(record: object) -> dict[str, RecordedCode]:
    """The code from outside that a record names, as an entry for the record; empty if there is none."""
    texts = [*texts_in(record)]
    parts, games = outside_parts(texts), dict[str, str]()
    for text in texts:
        part = parts.get(parts_of_game_name(text).base)
        if isinstance(part, type) and issubclass(part, Game):
            # Where it is used, the error is reported.
            with suppress(Exception):
                games[text] = digest_of_given(text)
    return {CODE: recorded_code(parts, games)} if parts else {}


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

    def changed_code(self, stage: str, record: object) -> str:
        """What has changed in the code that a record names since the stage used it, as text; empty if nothing has."""
        now = code_of(record).get(CODE)
        return "" if now is None else changes_of_code(self.sections.get(stage, {}).get(CODE), now)

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


class Made:
    """What a stage has made, for its record."""

    def __init__(self) -> None:
        self.files: list[str] = []
        """Their names in the folder of the stage; without files nothing is recorded."""
        self.counts: dict[str, int] = {}
        self.is_resumed = False
        """Whether the state of a stage with the same record is there, which was interrupted."""


class Stage(NamedTuple):
    """What a stage is: a section of the manifest in a folder, and everything that its files depend on."""

    name: str
    folder: Path
    record: Mapping[str, Any]
    """Settings and digests of inputs, by their dotted names."""
    defaults: Mapping[str, object] = MappingProxyType({})
    """What settings are where they are not recorded, by their dotted names."""
    force: bool = False
    """Make the files again if they were made with other settings or code, or were changed or released since."""
    names: object = ()
    """Settings that are not recorded, but name code from outside this program that the files depend on."""
    unfinished: str = ""
    """The section of the manifest that has the record while there is a `state`."""
    state: Path | None = None
    """The file or the folder with what an unfinished stage has found so far; None: it keeps nothing."""

    def is_done(self, what: str | None = None, more: str = "") -> bool:
        """Whether its files exist and were made with this record; the log then says that `what` is skipped, and `more`.

        Raises StageError, naming the difference, if they were made with other settings or code, or were changed since,
        unless `force`.
        """
        manifest = Manifest(self.folder)
        is_done = self._is_made(manifest)
        if is_done and what is not None:
            log.info("%s, skipped%s", what, more)
        if is_done:
            # A kill may have left it.
            self._forget_state(manifest)
        return is_done

    def _is_made(self, manifest: Manifest) -> bool:
        """Whether the files exist and were made with this record. Raises StageError as `is_done`."""
        section = manifest.sections.get(self.name)
        if section is None:
            return False
        what = _differences(section, self.record, self.defaults)
        what = what or manifest.changed_code(self.name, [self.record, self.names])
        there = {name: digest for name, digest in section["files"].items() if (self.folder / name).exists()}
        changed = [name for name, digest in there.items() if digest not in (None, sha256(self.folder / name))]
        if (what or changed) and not self.force:
            raise StageError(
                f"{self.folder}: {what or f'{changed[0]} was changed after it was made'}; "
                "set another run_dir, or force=true to replace it"
            )
        is_replaced = self.force and None in there.values()
        return not (what or changed or is_replaced) and len(there) == len(section["files"])

    def has_fewer(self, what: str, file: str) -> bool:
        """Whether it was made, with this file, and only differs in having a smaller number of `what`, so that it can be
        continued. Raises StageError if its files were changed since."""
        manifest = Manifest(self.folder)
        section = manifest.sections.get(self.name, {"files": {}, "settings": {}})
        was = section["settings"].get(what)
        if file not in section["files"] or not isinstance(was, int) or was >= self.record[what]:
            return False
        return self._replace(record={**self.record, what: was}, force=False)._is_made(manifest)

    @contextmanager
    def making(self, *, anew: bool = False) -> Iterator[Made]:
        """The files are made in this block, and recorded at its end. If it fails or is killed, nothing is recorded.

        A `state` of another record is deleted before the block, and the state of this one at its end. `anew`: it is
        deleted before the block too.
        """
        manifest, made = Manifest(self.folder), Made()
        manifest.forget(self.name)
        if self.state is not None:
            unfinished = self._replace(name=self.unfinished, defaults={}, force=True, names=())
            made.is_resumed = self.state.exists() and unfinished._is_made(manifest) and not anew
            if not made.is_resumed:
                if self.state.exists():
                    log.info("what an earlier, unfinished command has found is discarded")
                # Before the new record is made: otherwise, after a kill, the earlier state would seem to belong to it.
                self._forget_state(manifest)
                manifest.record(self.unfinished, self.record, {}, [])
        yield made
        # The block may have changed other sections.
        manifest = Manifest(self.folder)
        if made.files:
            manifest.record(self.name, self.record, made.counts, made.files, self.names)
        self._forget_state(manifest)

    def _forget_state(self, manifest: Manifest) -> None:
        if self.state is not None:
            manifest.forget(self.unfinished)
            if self.state.is_dir():
                remove_folder(self.state)
            else:
                self.state.unlink(missing_ok=True)


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
