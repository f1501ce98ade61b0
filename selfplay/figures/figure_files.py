"""Finds and writes the figures of a run and of a comparison.

Each file in figures/of_run/ and figures/of_comparison/ has a function `pictures`, from a `TrainedRun` or a `Comparison`
to the pictures it draws, by file name: figures for .png files, lists of frames for .gif files. A new file in these
folders is found automatically; other packages offer such a function as an entry point in the group
`selfplay.run_figures` or `selfplay.comparison_figures`.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from matplotlib.figure import Figure
from PIL import Image

from selfplay.figures import of_comparison, of_run
from selfplay.figures.style import default_style, save_animation, save_figure, write_source
from selfplay.figures.trained_run import TrainedRun, read_trained_run
from selfplay.grading.comparison import Comparison
from selfplay.registry import Registry
from selfplay.settings.run import Settings

Picture = Figure | Sequence[Image.Image]
Subject = TypeVar("Subject")


def figures_in(package: ModuleType, kind: str, group: str) -> Registry[Any]:
    """The function `pictures` of every module in `package`, by the name of the module, and those of other packages."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return Registry(kind, {name: f"{package.__name__}.{name}:pictures" for name in names}, group)


RUN_FIGURES: Registry[Callable[[TrainedRun], Mapping[str, Picture]]] = figures_in(
    of_run, "figure of a run", "selfplay.run_figures"
)
COMPARISON_FIGURES: Registry[Callable[[Comparison], Mapping[str, Picture]]] = figures_in(
    of_comparison, "figure of a comparison", "selfplay.comparison_figures"
)


@default_style()
def write_figures(
    figures: Registry[Callable[[Subject], Mapping[str, Picture]]], subject: Subject, folder: Path, source: str = ""
) -> list[Path]:
    """Draw all pictures of `subject` and write them into `folder`; returns their files.

    `source`: what the figures show, such as the game and the run; written into their corner.

    Raises StageError if a file cannot be written, and any error that the figures raise.
    """
    written = []
    for name in figures:
        for file_name, picture in figures[name](subject).items():
            path = folder / file_name
            if isinstance(picture, Figure):
                write_source(picture, source)
                save_figure(picture, path)
            else:
                save_animation(picture, path)
            written.append(path)
    return written


def draw_run_figures(settings: Settings) -> None:
    """Draw all figures of the trained levels and write them to figures/ in the run's folder.

    Raises:
        StageError: no level is trained yet, or a file cannot be written.
        InvalidFileError: a file of a level is missing or broken.
    """
    run = read_trained_run(settings)
    write_figures(RUN_FIGURES, run, run.folder.figures, run.source)
