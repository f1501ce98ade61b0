"""The experience graph as JSON: export and import (selfplay export-experience, selfplay import-experience)."""

import logging
from pathlib import Path

from selfplay.games import make_game
from selfplay.learners.experience.graph import BoardForm
from selfplay.learners.experience.json_file import export_json, import_json, read_json
from selfplay.learners.experience.store import ExperienceStore
from selfplay.settings.experience import ExperienceGraphSettings

log = logging.getLogger(__name__)


def open_store(settings: ExperienceGraphSettings) -> ExperienceStore:
    """Open the existing store. Raises as ExperienceStore."""
    return ExperienceStore(settings.experience.path, make_game(settings.game.name), must_exist=True)


def export_experience(settings: ExperienceGraphSettings) -> None:
    """Write the store as JSON. Raises as ExperienceStore and `export_json`."""
    boards = export_json(open_store(settings), Path(settings.json))
    log.info("wrote %s: %s boards", settings.json, f"{boards:,}")


def import_experience(settings: ExperienceGraphSettings) -> None:
    """Replace the boards of the store by those of the JSON file. Raises as ExperienceStore and `import_json`."""
    path, game, rule = Path(settings.experience.path), make_game(settings.game.name), settings.experience.rule
    if not path.exists():
        # A file that cannot be read leaves no new store.
        read_json(Path(settings.json), BoardForm(game, rule.canonical), rule)
    store = ExperienceStore(path, game, rule)
    boards = import_json(store, Path(settings.json))
    log.info("%s now has %s boards", settings.experience.path, f"{boards:,}")
