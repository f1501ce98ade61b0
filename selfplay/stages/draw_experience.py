"""Draw the boards that follow a board in the experience graph (train/draw_experience.py)."""

from pathlib import Path

from matplotlib import pyplot as plt

from selfplay.errors import SettingError
from selfplay.figures.experience_graph import picture_of_store
from selfplay.figures.style import save_figure
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.stages.experience_files import open_store


def draw_experience(settings: ExperienceGraphSettings) -> None:
    """Draw the boards that follow a board, into a file or on the screen.

    Raises:
        SettingError: the board is not in the graph, or no screen is available.
        InvalidFileError, StageError: the store is broken, or the file cannot be written.
    """
    store, options = open_store(settings), settings.picture
    if options.file is not None:
        save_figure(picture_of_store(store, options), Path(options.file))
        return
    if plt.get_backend().lower() == "agg":
        raise SettingError("picture.file=null: there is no screen to draw on; set a file")
    picture_of_store(store, options, plt.figure())
    plt.show()
