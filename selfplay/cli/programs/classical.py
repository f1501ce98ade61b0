"""Programs of the classical learners: tables of values and the experience graph."""

import logging
import os
import shutil
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from selfplay.checks import fields_of
from selfplay.cli.command import Program
from selfplay.errors import InvalidFileError, SettingError
from selfplay.experience.graph import BoardForm
from selfplay.experience.json_file import export_json, import_json, read_json
from selfplay.experience.store import ExperienceStore
from selfplay.playing.console_text import supports_colour
from selfplay.playing.experience_menu import play_with_experience
from selfplay.progress import progress_bar
from selfplay.runs.command_lines import command_for
from selfplay.settings.classical import (
    ExperienceJsonSettings,
    ExperiencePictureSettings,
    StoreSettings,
    TabularSettings,
)
from selfplay.settings.matches import CompeteSettings
from selfplay.settings.playing import ExperiencePlaySettings
from selfplay.settings.run import Run
from selfplay.stages import train_tabular as tabular


@partial(Program, kind=TabularSettings, config="tabular")
def train_tabular_program(settings: TabularSettings) -> None:
    """Learn the value of every board of a small game, one match after the other.

    selfplay train-tabular
    selfplay train-tabular agent=backward_value episodes=20000 alpha=0.5 epsilon=0.1 seed=1 run_dir=outputs/try
    """
    run = Run.of(settings)
    path = tabular.train_tabular(run, progress_bar)
    table, figure = path.with_suffix(".csv"), run.folder.figures / f"tabular_{path.stem}.png"
    if table.exists() and not (figure.exists() and figure.stat().st_mtime_ns >= table.stat().st_mtime_ns):
        # matplotlib takes as long to import as the rest of the program.
        from selfplay.figures.tabular_training import draw_training

        title, rate = run.game.presentation.title, settings.epsilon
        source = f"{title}, agent={settings.agent}, seed={settings.seed}, epsilon={rate:g}"
        draw_training(table, figure, source)


@partial(Program, kind=CompeteSettings, config="compete")
def compete_program(settings: CompeteSettings) -> None:
    """Let the two trained policies of a tabular learner play each other.

    They play 1,000 matches without exploration, or as many as `matches`.

    selfplay compete
    selfplay compete tables=backward_value matches=500 epsilon=0.1
    """
    tabular.compete(settings)


@partial(Program, kind=ExperiencePlaySettings, config="experience_play")
def play_experience_program(settings: ExperiencePlaySettings) -> None:
    """Play tic-tac-toe with the experience graph, which learns from every match.

    You against it, the random player against it, or it against itself.

    selfplay play-experience
    selfplay play-experience mode=2 matches=100 show=false
    selfplay play-experience mode=3 pause=0.5
    selfplay play-experience mode=1 experience=minimax

    selfplay play-matches plays thousands of matches faster.
    """
    columns = shutil.get_terminal_size().columns
    play_with_experience(Run.of(settings), input, print, colour=supports_colour(sys.stdout), columns=columns)


@partial(Program, kind=ExperiencePictureSettings, config="experience_picture")
def draw_experience_program(settings: ExperiencePictureSettings) -> None:
    """Draw the known boards of the experience graph that follow a board, with their scores.

    selfplay draw-experience
    selfplay draw-experience 'picture.after=["1,1","0,0"]' picture.depth=2 picture.breadth=[6,3]
    selfplay draw-experience picture.file=null        # in a window
    """
    # matplotlib takes as long to import as the rest of the program.
    from selfplay.figures.experience_graph import boards_ahead, draw_boards_ahead

    store, options = _open_store(settings), settings.picture
    squares = tuple(store.game.squares(store.game.state_after(options.after))[0].tolist())
    ahead = boards_ahead(store, squares, options)
    if ahead is None:
        raise SettingError(f"picture.after={list(options.after)}: {store.path} does not have this board")
    log.info("%s", ahead.report())
    draw_boards_ahead(ahead, options.file)


@partial(Program, kind=ExperienceJsonSettings, config="experience_json")
def export_experience_program(settings: ExperienceJsonSettings) -> None:
    """Write the experience graph as JSON.

    selfplay export-experience json=state_action.json
    selfplay export-experience experience=minimax json=state_action.json
    """
    boards = export_json(_open_store(settings), Path(settings.json))
    log.info("wrote %s: %s boards", settings.json, f"{boards:,}")


@partial(Program, kind=ExperienceJsonSettings, config="experience_json")
def import_experience_program(settings: ExperienceJsonSettings) -> None:
    """Replace the experience graph by the boards of a JSON file.

    selfplay import-experience json=state_action.json
    selfplay import-experience experience=minimax json=state_action.json
    """
    path, game, rule = Path(settings.experience.path), Run.of(settings).game, settings.experience.rule
    if not path.exists():
        # A file that cannot be read leaves no new store.
        read_json(Path(settings.json), BoardForm(game, rule.canonical), rule)
    with fields_of("experience", *asdict(rule)):
        store = ExperienceStore(path, game, rule)
    boards = import_json(store, Path(settings.json))
    log.info("%s now has %s boards", settings.experience.path, f"{boards:,}")


def _open_store(settings: ExperienceJsonSettings | ExperiencePictureSettings) -> ExperienceStore:
    if not os.path.lexists(path := settings.experience.path):
        usual = StoreSettings(path=f"{settings.run_dir}/experience.sqlite")
        given = [
            f"experience.{name}={value}"
            for name, value in asdict(settings.experience).items()
            if value != getattr(usual, name)
        ]
        command = command_for("play-experience", settings.game.name, settings.run_dir, *given)
        raise InvalidFileError(path, f"does not exist; {command} makes one")
    return ExperienceStore(settings.experience.path, Run.of(settings).game, must_exist=True)


log = logging.getLogger(__name__)
