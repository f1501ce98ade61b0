"""Learn the value of every board of a small game by self-play, one match after the other.

python train/train_tabular.py --help   (the same as selfplay train-tabular)
"""

import project_environment

from selfplay.cli.programs.train_tabular import main

if __name__ == "__main__":
    main()
