"""Draw the known boards of the experience graph that follow a board, with their scores.

selfplay draw-experience
selfplay draw-experience 'picture.after=["1,1","0,0"]' picture.depth=2 picture.breadth=[6,3]
selfplay draw-experience picture.file=null        # in a window
"""

from selfplay.cli.command import run_program
from selfplay.settings.experience import ExperienceGraphSettings


def draw(settings: ExperienceGraphSettings) -> None:
    from selfplay.stages.experience import draw_experience

    draw_experience(settings)


def main() -> None:
    run_program(draw, ExperienceGraphSettings, "experience_graph", run="read")
