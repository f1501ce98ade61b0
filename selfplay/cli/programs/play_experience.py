"""Play tic-tac-toe with the experience graph, which learns from every match.

You against it, the random player against it, or it against itself.

selfplay play-experience
selfplay play-experience mode=2 matches=100 show=false
selfplay play-experience mode=3 pause=0.5
selfplay play-experience mode=1 experience=minimax

selfplay play-matches plays thousands of matches faster.
"""

import sys

from selfplay.cli.command import run_program
from selfplay.settings.playing import ExperiencePlaySettings


def play(settings: ExperiencePlaySettings) -> None:
    from selfplay.playing.board_text import supports_colour
    from selfplay.playing.experience_menu import play_with_experience

    play_with_experience(settings, input, print, colour=supports_colour(sys.stdout))


def main() -> None:
    run_program(play, ExperiencePlaySettings, "experience_play", run="read")
