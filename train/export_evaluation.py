"""Write the feature weights that a level has learned as an evaluation for searches.

python train/export_evaluation.py --help   (the same as selfplay export-evaluation)
"""

import project_environment

from selfplay.cli.programs.export_evaluation import main

if __name__ == "__main__":
    main()
