"""Stage 2: train a level on the matches of the level before it.

python train/train_agent.py --level 4
python train/train_agent.py --level 1 architecture=conv run_dir=outputs/try
python train/train_agent.py --level 4 --dataset-file my/dataset.csv --start-file my/agent.safetensors --output-dir my
torchrun --standalone --nproc-per-node 4 train/train_agent.py --level 4   # four processes share each batch
"""

import project_environment

from selfplay.cli.command import command, progress_bar
from selfplay.players.levels import newest_level
from selfplay.settings.run import Settings
from selfplay.stages.train import train_level


def train(settings: Settings) -> None:
    level = newest_level(settings) + 1 if settings.level is None else settings.level
    train_level(settings, level, progress_bar)


if __name__ == "__main__":
    command(train, in_parallel=True)
