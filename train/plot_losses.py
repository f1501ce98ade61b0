"""Draw the loss curves of all levels of a run; for SumTo100 also the value of each sum.

python train/plot_losses.py --help   (the same as selfplay plot)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("plot")
