"""Run a player as an engine of the Go Text Protocol (GTP).

Graphical boards and other programs can then play against it.

selfplay gtp
selfplay gtp 'player=search:negascout?depth=6&evaluation=article&endgame=14'
selfplay gtp --game othello_6x6 player=random
"""

import sys

from selfplay.cli.command import run_program
from selfplay.settings.playing import GtpSettings


def answer(settings: GtpSettings) -> None:
    from selfplay.gtp.conversation import command_lines
    from selfplay.playing.gtp_engine import answer_lines, engine_from_settings

    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    answer_lines(engine_from_settings(settings), command_lines(sys.stdin), lambda text: print(text, end="", flush=True))


def main() -> None:
    # stdout carries only the answers.
    run_program(answer, GtpSettings, "gtp", run="read", log_to=sys.stderr)
