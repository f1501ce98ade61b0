"""Draw the figures of the trained levels of a run (train/plot_losses.py)."""

from selfplay.figures.figure_files import RUN_FIGURES, write_figures
from selfplay.figures.trained_run import read_trained_run
from selfplay.settings.run import Settings


def draw_run_figures(settings: Settings) -> None:
    """Draw all figures of the trained levels and write them to figures/ in the run's folder.

    Raises:
        StageError: no level is trained yet, or a file cannot be written.
        InvalidFileError: a file of a level is missing or broken.
    """
    run = read_trained_run(settings)
    write_figures(RUN_FIGURES, run, run.folder.figures, run.source)
