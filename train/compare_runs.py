"""Make one table and one figure of all runs below a folder, such as those of a sweep (train/learn.py -m).

python train/compare_runs.py --help   (the same as selfplay compare-runs)
"""

import project_environment

from selfplay.cli.programs.compare_runs import main

if __name__ == "__main__":
    main()
