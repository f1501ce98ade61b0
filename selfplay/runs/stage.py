"""A stage of a run: skipped if its files are there and were made with the same settings, and recorded when it ends."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from selfplay.runs.manifest import Manifest

log = logging.getLogger(__name__)


class Made:
    """What a stage has made, for its record."""

    def __init__(self) -> None:
        self.files: list[str] = []
        """Their names in the folder of the stage."""
        self.counts: dict[str, int] = {}


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

    def is_done(self, what: str | None = None, more: str = "") -> bool:
        """Whether its files exist and were made with this record; the log then says that `what` is skipped, and `more`.

        Raises StageError, naming the difference, if they were made with other settings, unless `force`.
        """
        is_done = Manifest(self.folder).is_done(self.name, self.record, self.defaults, force=self.force)
        if is_done and what is not None:
            log.info("%s, skipped%s", what, more)
        return is_done

    @contextmanager
    def making(self) -> Iterator[Made]:
        """The files are made in this block, and recorded at its end. If it fails or is killed, nothing is recorded."""
        manifest, made = Manifest(self.folder), Made()
        manifest.forget(self.name)
        yield made
        # The block may have changed other sections.
        Manifest(self.folder).record(self.name, self.record, made.counts, made.files)
