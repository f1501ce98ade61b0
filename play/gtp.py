"""Run a player as an engine of the Go Text Protocol (GTP), for graphical boards and other programs.

python play/gtp.py --help   (the same as selfplay gtp)
"""

import project_environment

from selfplay.cli.programs.gtp import main

if __name__ == "__main__":
    main()
