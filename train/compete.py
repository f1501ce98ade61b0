"""Let the two trained policies of a tabular learner play each other: 1,000 matches without exploration.

python train/compete.py --help   (the same as selfplay compete)
"""

import project_environment

from selfplay.cli.programs.compete import main

if __name__ == "__main__":
    main()
