"""Play in a browser, and watch the training of a run.

Serves every game, with levels, searches and tables as opponents.

selfplay web
selfplay web --port 8001
selfplay web --game othello run_dir=outputs/try
selfplay web host=0.0.0.0 'hosts=[192.168.0.7]'   # reachable from other computers at this address
"""

from selfplay.cli.command import run_program
from selfplay.settings.web import WebSettings


def play(settings: WebSettings) -> None:
    from selfplay.web.server import serve

    serve(settings)


def main() -> None:
    run_program(play, WebSettings, "web", run="read")
