"""Stage 2: train a level on the matches of the level before it.

selfplay train --level 4
selfplay train --level 1 architecture=conv run_dir=outputs/try
selfplay train --level 4 --dataset-file my/dataset.csv --start-file my/agent.safetensors --output-dir my
torchrun --standalone --nproc-per-node 4 -m selfplay train --level 4   # four processes share each batch
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from selfplay.stages.train import train_level


def train(settings: Settings) -> None:
    level = RunFolder.of(settings).newest_level() + 1 if settings.level is None else settings.level
    train_level(settings, level, progress_bar)


def main() -> None:
    run_program(train, Settings, in_parallel=True)
