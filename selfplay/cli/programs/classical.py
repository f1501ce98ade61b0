"""Programs of the classical learners: tables of values and the experience graph."""

import sys
from collections.abc import Callable
from functools import partial

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.classical import CompeteSettings, ExperienceGraphSettings, TabularSettings
from selfplay.settings.playing import ExperiencePlaySettings


def train_tabular(settings: TabularSettings) -> None:
    """Learn the value of every board of a small game, one match after the other.

    selfplay train-tabular
    selfplay train-tabular agent=backward_value episodes=20000 alpha=0.5 epsilon=0.1 seed=1 run_dir=outputs/try
    """
    from selfplay.figures.tabular_training import draw_training
    from selfplay.runs.run_folder import RunFolder
    from selfplay.stages.train_tabular import train_tabular

    path = train_tabular(settings, progress_bar)
    if (table := path.with_suffix(".csv")).exists():
        draw_training(table, RunFolder.of(settings).figures / f"tabular_{path.stem}.png")


def compete(settings: CompeteSettings) -> None:
    """Let the two trained policies of a tabular learner play each other.

    They play 1,000 matches without exploration, or as many as `matches`.

    selfplay compete
    selfplay compete tables=backward_value matches=500 epsilon=0.1
    """
    from selfplay.stages.train_tabular import compete

    compete(settings)


def play_experience(settings: ExperiencePlaySettings) -> None:
    """Play tic-tac-toe with the experience graph, which learns from every match.

    You against it, the random player against it, or it against itself.

    selfplay play-experience
    selfplay play-experience mode=2 matches=100 show=false
    selfplay play-experience mode=3 pause=0.5
    selfplay play-experience mode=1 experience=minimax

    selfplay play-matches plays thousands of matches faster.
    """
    from selfplay.playing.console_text import supports_colour
    from selfplay.playing.open_session import play_with_experience

    play_with_experience(settings, input, print, colour=supports_colour(sys.stdout))


def draw_experience(settings: ExperienceGraphSettings) -> None:
    """Draw the known boards of the experience graph that follow a board, with their scores.

    selfplay draw-experience
    selfplay draw-experience 'picture.after=["1,1","0,0"]' picture.depth=2 picture.breadth=[6,3]
    selfplay draw-experience picture.file=null        # in a window
    """
    from selfplay.stages.experience import draw_experience

    draw_experience(settings)


def export_experience(settings: ExperienceGraphSettings) -> None:
    """Write the experience graph as JSON.

    selfplay export-experience json=state_action.json
    selfplay export-experience experience=minimax json=state_action.json
    """
    from selfplay.stages.experience import export_experience

    export_experience(settings)


def import_experience(settings: ExperienceGraphSettings) -> None:
    """Replace the experience graph by the boards of a JSON file.

    selfplay import-experience json=state_action.json
    selfplay import-experience experience=minimax json=state_action.json
    """
    from selfplay.stages.experience import import_experience

    import_experience(settings)


_run_on_graph = partial(run_program, kind=ExperienceGraphSettings, config="experience_graph", run="read")

PROGRAMS: dict[str, Callable[[], None]] = {
    "train-tabular": partial(run_program, train_tabular, TabularSettings, "tabular"),
    "compete": partial(run_program, compete, CompeteSettings, "compete", run="read"),
    "play-experience": partial(run_program, play_experience, ExperiencePlaySettings, "experience_play", run="read"),
    "draw-experience": partial(_run_on_graph, draw_experience),
    "export-experience": partial(
        run_program, export_experience, ExperienceGraphSettings, "experience_graph", run="read"
    ),
    "import-experience": partial(
        run_program, import_experience, ExperienceGraphSettings, "experience_graph", run="read"
    ),
}
