"""Stage 2: train a level on the matches of the level before it.

python train/train_agent.py --help   (the same as selfplay train)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("train")
