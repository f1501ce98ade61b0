"""Walk every line of play against a player, and prove that it wins or find its shortest line to a mistake.

python train/prove.py --help   (the same as selfplay prove)
"""

import project_environment

from selfplay.cli.programs.prove import main

if __name__ == "__main__":
    main()
