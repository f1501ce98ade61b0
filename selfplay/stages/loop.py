"""The loop: the matches and the training of every level, one level after the other, in one process."""

from selfplay.executors import open_executor
from selfplay.progress import NoProgress, ProgressBar
from selfplay.settings.run import Settings, require_whole_run
from selfplay.stages.generate import generate_level
from selfplay.stages.train import train_level


def learn_levels(settings: Settings, progress: ProgressBar = NoProgress) -> None:
    """Learn levels 1 to `settings.levels`, one after the other, in the same stages and bytes as the shell loop."""
    require_whole_run(settings)
    with open_executor(settings.executor) as executor:
        for level in range(settings.levels):
            generate_level(settings, level, progress, executor)
            train_level(settings, level + 1, progress)
