"""Run a player as an engine of the Go Text Protocol (GTP), for graphical boards and other programs.

python play/gtp.py
python play/gtp.py 'player=search:negascout?depth=6&evaluation=article&endgame=14'
python play/gtp.py --game othello_6x6 player=random
"""

import project_environment

import sys

from selfplay.cli.command import command_of
from selfplay.settings.gtp import GtpSettings


def answer(settings: GtpSettings) -> None:
    from selfplay.gtp.conversation import command_lines
    from selfplay.playing.gtp_engine import answer_lines, engine_from_settings

    sys.stdin.reconfigure(errors="replace")
    answer_lines(engine_from_settings(settings), command_lines(sys.stdin), lambda text: print(text, end="", flush=True))


if __name__ == "__main__":
    # stdout carries only the answers.
    command_of(GtpSettings, "gtp", answer, run="read", log_to=sys.stderr)
