"""Solve a position of Othello (near the end of the match) or Connect Four: one line per move with its exact score.

python play/solve.py BOARD SIDE     one of X, O or - per square, row by row from a1, and the side to move
python play/solve.py TRANSCRIPT     the moves from the start without passes, as in f5d6c3...
python play/solve.py --game connect_four 4453
Othello: the number of discs by which the side to move wins. Empty squares count for the winner (see --raw-discs).
Connect Four: 22 minus the number of stones that the winner has played at the end, negative if the other side wins.
"""

import project_environment

import re
import sys

from selfplay.cli.arguments import ArgumentParser
from selfplay.cli.command import run_reporting_errors
from selfplay.games.othello_notation import written_position


def main() -> None:
    parser = ArgumentParser(__doc__)
    parser.add_argument("position", help="a board or a transcript")
    parser.add_argument("side", nargs="?", help="X or O, after a board")
    parser.add_argument("--game", help="connect_four, or an Othello whose board size does not determine it")
    parser.add_argument("--raw-discs", action="store_true", help="Othello: do not count empty squares")
    parser.add_argument("--time-limit", type=float, help="in seconds")
    # A board may start like an option, but only options have a small letter after their dashes.
    options = parser.parse_args([re.sub("^(?=-+([^a-z-]|$))", " ", argument) for argument in sys.argv[1:]])
    game, state = written_position(options.position.strip(), options.side, options.game)
    from selfplay.playing.endgame_report import move_value_lines
    from selfplay.search.endgame.solver import EndgameSolver
    from selfplay.search.exact_solver import make_exact_solver

    solver = EndgameSolver(game, empties_to_winner=False) if options.raw_discs else make_exact_solver(game)
    report = (lambda line: print(f"solved: {line}", file=sys.stderr)) if sys.stderr.isatty() else None
    print("\n".join(move_value_lines(solver, state, options.time_limit, report)))


if __name__ == "__main__":
    run_reporting_errors(main)
