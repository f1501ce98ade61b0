"""Play tic-tac-toe with the experience graph: you against it, the random player against it, or it against itself.

python play/experience.py
python play/experience.py mode=2 matches=100 show=false
python play/experience.py mode=3 pause=0.5
python play/experience.py mode=1 experience=minimax

It learns from every match. train/play_matches.py plays thousands of matches faster.
"""

import project_environment

import sys

from selfplay.cli.command import command_of
from selfplay.settings.playing import ExperiencePlaySettings


def play(settings: ExperiencePlaySettings) -> None:
    from selfplay.playing.board_text import supports_colour
    from selfplay.playing.experience_menu import play_with_experience

    play_with_experience(settings, input, print, colour=supports_colour(sys.stdout))


if __name__ == "__main__":
    command_of(ExperiencePlaySettings, "experience_play", play, run="read")
