"""The other runs of a game, whose curves the story of its run can show too.

They are the folders beside the run and those below `other_runs`, two folders deep, where the runs of a sweep are.
A request can only choose from this list; no path is ever taken from a request.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selfplay.games import Game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.web.errors import NotFoundError
from selfplay.web.file_cache import FileCache
from selfplay.web.opponents import OpponentCatalog, path_text
from selfplay.web.run_summary import settings_of_run, telling_settings
from selfplay.web.story_schemas import RunView

MOST_RUNS = 100
"""The largest number of runs that are listed."""


class OtherRuns:
    """Finds the other runs of each game. Methods may be called from several threads."""

    def __init__(self, catalog: OpponentCatalog) -> None:
        self.catalog = catalog
        self._files = FileCache()
        self._found: dict[str, dict[str, RunFolder]] = {}

    def views(self, game: Game) -> list[RunView]:
        """The runs that exist now, in order of their names."""
        self._found[game.name] = self._find(game)
        return [
            RunView(id=name, settings=telling_settings(settings_of_run(run, [])), levels=len(run.trained_levels()))
            for name, run in self._found[game.name].items()
        ]

    def run(self, game: Game, run_id: str) -> RunFolder:
        """The run with this id. Raises NotFoundError if there is none."""
        if run_id not in self._found.get(game.name, {}):
            self._found[game.name] = self._find(game)
        try:
            return self._found[game.name][run_id]
        except KeyError:
            raise NotFoundError(f"unknown run of {game.name}; the list of its runs may have changed") from None

    def _find(self, game: Game) -> dict[str, RunFolder]:
        own = self.catalog.run(game).path
        outputs = Path(self.catalog.settings.other_runs)
        paths = {path.resolve(): path for path in (*_folders(own.parent), *_folders(outputs, depth=2))}
        paths.pop(own.resolve(), None)
        found = sorted(path_text(path) for path in paths.values() if self._game_of(path) == game.name)
        by_name = {path_text(path): path for path in paths.values()}
        return {name: RunFolder(by_name[name]) for name in found[:MOST_RUNS]}

    def _game_of(self, path: Path) -> str | None:
        """The name of the game of the run in a folder; None if there is no run, or its manifest is broken."""
        section = self._files.of(_generation, RunFolder(path).level(0) / "manifest.json", [])
        return None if section is None else section["settings"].get("game")


def _generation(path: Path) -> dict[str, Any] | None:
    return Manifest(path.parent).sections.get("generation")


def _folders(folder: Path, depth: int = 1) -> Iterator[Path]:
    """The folders in a folder, and those in them, down to this depth; without the folders of levels."""
    if depth == 0 or not folder.is_dir():
        return
    try:
        inside = sorted(
            path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(("level_", "."))
        )
    except OSError:
        return
    for path in inside:
        yield path
        yield from _folders(path, depth - 1)
