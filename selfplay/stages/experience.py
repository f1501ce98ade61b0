"""The experience graph as JSON and as a picture (selfplay export-experience, import-experience, draw-experience)."""

import logging
from pathlib import Path

from selfplay.errors import SettingError
from selfplay.figures.experience_graph import boards_ahead, draw_boards_ahead
from selfplay.games import make_game
from selfplay.learners.experience.graph import BoardForm
from selfplay.learners.experience.json_file import export_json, import_json, read_json
from selfplay.learners.experience.store import ExperienceStore
from selfplay.settings.classical import ExperienceGraphSettings

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


def draw_experience(settings: ExperienceGraphSettings) -> None:
    """Draw the boards that follow a board, into a file or on the screen, and log the nodes and edges of the picture.

    Raises:
        SettingError: the board is not in the graph, or no screen is available.
        InvalidFileError, StageError: the store is broken, or the file cannot be written.
    """
    store, options = open_store(settings), settings.picture
    squares = tuple(store.game.squares(store.game.state_after(options.after))[0].tolist())
    ahead = boards_ahead(store, squares, options)
    if ahead is None:
        raise SettingError(f"picture.after={list(options.after)}: {store.path} does not have this board")
    log.info("%s", ahead.report())
    draw_boards_ahead(ahead, options.file)
