"""Groups of positions by stage and difficulty, as in the test sets of Pons (blog.gamesolver.org).

The stage is told by the number of stones on the board, the difficulty by the number of plies to the end of best play.
Each is divided into thirds of the number of squares, 14 in Connect Four:

    stones              0-14 begin    15-28 middle    29-42 end
    plies to the end    0-14 easy     15-28 medium    29-42 hard
"""

STAGES = ("begin", "middle", "end")
DIFFICULTIES = ("easy", "medium", "hard")

GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
"""All groups that can exist where each ply fills a square, the easiest first."""


def group_of(stones: int, plies_to_end: int, squares: int) -> str:
    """The name of the group of a position, such as "begin-easy"."""
    return f"{STAGES[_third(stones, squares)]}-{DIFFICULTIES[_third(plies_to_end, squares)]}"


def _third(number: int, squares: int) -> int:
    return min(2, max(0, number - 1) // (squares // 3))
