"""What every move of an Othello position near its end is worth, with best play of both sides: a line a move.

python play/solve.py BOARD SIDE     a sign for each square from a1 along the rows (X, O or -), and who is to move
python play/solve.py TRANSCRIPT     the squares of the moves from the start, passes left out, as in f5d6c3...

Scores are the discs by which the side to move wins; empty squares count for the winner, but for --raw-discs.
"""

import re
import sys

from selfplay.cli.command import ArgumentParser, run_reporting_errors
from selfplay.games.othello_notation import written_position


def main() -> None:
    parser = ArgumentParser(__doc__)
    parser.add_argument("position", help="a board or a transcript")
    parser.add_argument("side", nargs="?", help="X or O, after a board")
    parser.add_argument("--game", help="whose board it is, if its size does not tell: othello_6x6, ...")
    parser.add_argument("--raw-discs", action="store_true", help="squares that stay empty count for nobody")
    parser.add_argument("--time-limit", type=float, help="seconds")
    # A board may begin like an option; no option has anything but small letters after its dashes.
    options = parser.parse_args([re.sub("^(?=-+([^a-z-]|$))", " ", argument) for argument in sys.argv[1:]])
    game, state = written_position(options.position.strip(), options.side, options.game)
    from selfplay.playing.endgame_report import move_value_lines
    from selfplay.search.endgame.solver import EndgameSolver

    solver = EndgameSolver(game, empties_to_winner=not options.raw_discs)
    tell = (lambda line: print(f"solved: {line}", file=sys.stderr)) if sys.stderr.isatty() else None
    print("\n".join(move_value_lines(solver, state, options.time_limit, tell)))


if __name__ == "__main__":
    run_reporting_errors(main)
