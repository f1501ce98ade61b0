"""Play in a browser: every game, against levels, searches and tables; and watch the training of a run.

python play/web.py
python play/web.py --port 8001
python play/web.py --game othello run_dir=outputs/try
python play/web.py host=0.0.0.0 'hosts=[192.168.0.7]'   # reachable from other computers at this address
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.web import WebSettings


def play(settings: WebSettings) -> None:
    from selfplay.web.server import serve

    serve(settings)


if __name__ == "__main__":
    command_of(WebSettings, "web", play, run="read")
