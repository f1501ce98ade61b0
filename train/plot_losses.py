"""Draw the loss curves of all levels of a run; for SumTo100 also the value of each sum.

python train/plot_losses.py --help   (the same as selfplay plot)
"""

import project_environment

from selfplay.cli.programs.plot import main

if __name__ == "__main__":
    main()
