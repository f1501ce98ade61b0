"""Draw the boards that follow a board in the experience graph (selfplay draw-experience)."""

import logging

from selfplay.errors import SettingError
from selfplay.figures.experience_graph import boards_ahead, draw_boards_ahead
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.stages.experience_files import open_store

log = logging.getLogger(__name__)


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
