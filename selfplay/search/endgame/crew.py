"""How the threads that solve the same position divide its moves: see `selfplay.search.crew`."""

from selfplay.compute.compilation import part_of_compiled
from selfplay.search.crew import Crew, is_marked, is_shared, put_mark
from selfplay.search.endgame.stack import Children, EndgameFrame

SHARED_FROM = 11
"""Positions with at least this many empty squares are marked."""
PUT_OFF = 1 << 45
"""Added to the rating of a move that is to be tried after those that no thread is searching."""


@part_of_compiled
def set_mark(frame: EndgameFrame, empties: int, crew: Crew) -> None:
    """Mark a position, if it has enough empty squares."""
    frame.mark = -1
    if empties >= SHARED_FROM and is_shared(crew):
        frame.mark = put_mark(frame.own, frame.opp, crew)


@part_of_compiled
def clear_mark(frame: EndgameFrame, crew: Crew) -> None:
    """Remove the mark of a position."""
    if frame.mark >= 0:
        crew.marks[frame.mark] = 0


@part_of_compiled
def put_off_marked(frame: EndgameFrame, children: Children, crew: Crew) -> None:
    """Rate the untried children that are marked, by any thread, behind all others."""
    if not is_shared(crew):
        return
    for number in range(frame.first_child, frame.first_child + frame.num_untried):
        child = children[number]
        is_put_off = child.rating >= PUT_OFF // 2
        if is_marked(child.own, child.opp, crew) != is_put_off:
            child.rating += -PUT_OFF if is_put_off else PUT_OFF
