"""A stage of a run: skipped if its files are there and were made with the same settings and code, or made.

One that is interrupted may keep what it has found so far, and continues from it.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from selfplay.files import remove_folder
from selfplay.runs.manifest import Manifest

log = logging.getLogger(__name__)


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
    """What settings are where they are not recorded: see `Manifest.is_done`."""
    force: bool = False
    """Make the files again if they were made with other settings."""
    names: object = ()
    """Settings that are not recorded, but name code from outside this program that the files depend on."""
    unfinished: str = ""
    """The section of the manifest that has the record while there is a `state`."""
    state: Path | None = None
    """The file or the folder with what an unfinished stage has found so far; None: it keeps nothing."""

    def is_done(self, what: str | None = None, more: str = "") -> bool:
        """Whether its files exist and were made with this record; the log then says that `what` is skipped, and `more`.

        Raises StageError, naming the difference, if they were made with other settings, unless `force`.
        """
        manifest = Manifest(self.folder)
        is_done = manifest.is_done(self.name, self.record, self.defaults, force=self.force, names=self.names)
        if is_done and what is not None:
            log.info("%s, skipped%s", what, more)
        if is_done:
            # A kill may have left it.
            self._forget_state(manifest)
        return is_done

    def has_fewer(self, what: str, file: str) -> bool:
        """Whether it was made, with this file, and only differs in having a smaller number of `what`, so that it can be
        continued. Raises StageError if its files were changed since."""
        manifest = Manifest(self.folder)
        section = manifest.sections.get(self.name, {"files": {}, "settings": {}})
        was = section["settings"].get(what)
        if file not in section["files"] or not isinstance(was, int) or was >= self.record[what]:
            return False
        return manifest.is_done(self.name, {**self.record, what: was}, self.defaults, force=False)

    @contextmanager
    def making(self, *, anew: bool = False) -> Iterator[Made]:
        """The files are made in this block, and recorded at its end. If it fails or is killed, nothing is recorded.

        A `state` of another record is deleted before the block, and the state of this one at its end. `anew`: it is
        deleted before the block too.
        """
        manifest, made = Manifest(self.folder), Made()
        manifest.forget(self.name)
        if self.state is not None:
            is_same = self.state.exists() and manifest.is_done(self.unfinished, self.record, force=True)
            made.is_resumed = is_same and not anew
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
