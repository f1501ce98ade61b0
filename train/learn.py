"""Run the whole loop in one process, with the same files as the shell script; with -m, run a sweep over settings.

python train/learn.py --help   (the same as selfplay learn)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("learn")
