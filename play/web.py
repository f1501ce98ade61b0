"""Play in a browser: every game, against levels, searches and tables; and watch the training of a run.

python play/web.py --help   (the same as selfplay web)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("web")
