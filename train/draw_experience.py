"""Draw the known boards of the experience graph that are reachable from a board, with their scores.

python train/draw_experience.py
python train/draw_experience.py 'picture.after=["1,1","0,0"]' picture.depth=2 picture.breadth=[6,3]
python train/draw_experience.py picture.file=null        # in a window
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.experience import ExperienceGraphSettings


def draw(settings: ExperienceGraphSettings) -> None:
    from selfplay.stages.draw_experience import draw_experience

    draw_experience(settings)


if __name__ == "__main__":
    command_of(ExperienceGraphSettings, "experience_graph", draw, run="read")
