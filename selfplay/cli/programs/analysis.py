"""Programs that analyse a position."""

import sys
from collections.abc import Callable
from functools import partial

from selfplay.cli.command import Program
from selfplay.compute.process import usable_cores
from selfplay.errors import SettingError
from selfplay.games import State
from selfplay.games.othello_notation import written_position
from selfplay.playing import analysis
from selfplay.playing.record_analysis import record_lines
from selfplay.search.endgame.solver import EndgameSolver
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver, solver_class
from selfplay.settings.context import computing
from selfplay.settings.evaluation import AnalysisSettings, SolveSettings


@partial(Program, kind=SolveSettings, config="solve")
def solve(settings: SolveSettings) -> None:
    """Solve a position of Othello or Connect Four exactly.

    Prints one line per move with its exact score. Othello positions should be near the end of the match.

    selfplay solve 'BOARD SIDE'   one of X, O or - per square, row by row from a1, and the side to move; x, o, * and .
                                  are understood too, spaces between the rows, and a line of a problem file: BOARD X;
                                  g8:+18; h7:+12; % a comment
    selfplay solve TRANSCRIPT     the moves from the start, as in f5d6c3..., or a match in GGF
    selfplay solve game=connect_four 4453
    Othello: the number of discs by which the side to move wins. Empty squares count for the winner (see raw_discs).
    Connect Four: 22 minus the number of stones that the winner has played at the end, negative if the other side wins.
    """
    game, state = written_position(settings.moves.strip(), settings.game.name)
    # Before the solver is compiled.
    most, left = solver_class(game).practical_empties, int(empties(game, state)[0])
    if settings.time_limit is None and left > most and not bool(state.terminated[0]):
        raise SettingError(
            f"{left} squares are empty: solving this takes hours; use at most {most}, or set a time limit"
        )
    solver = EndgameSolver(game, empties_to_winner=False) if settings.raw_discs else make_exact_solver(game)
    solver.num_threads = settings.search_threads or usable_cores()
    report = (lambda line: print(f"solved: {line}", file=sys.stderr)) if sys.stderr.isatty() else None
    print("\n".join(move_value_lines(solver, state, settings.time_limit, report)))


def move_value_lines(
    solver: ExactSolver,
    state: State,
    time_limit: float | None = None,
    on_line: Callable[[str], None] | None = None,
) -> list[str]:
    """One line per legal move with its value, best first: `g8 +18`, `4 +1 wins in 21`. Equal moves are sorted by name.

    For a match that is over, one line with its result.

    Args:
        time_limit: seconds for all moves together.
        on_line: called with each line as soon as its move is solved, in another thread.

    Raises TimeLimitError if time_limit is too short.
    """
    game, player = solver.game, int(state.current_player[0])
    if bool(state.terminated[0]):
        return [_result_line(solver, state)]

    def line(action: int, value: int) -> str:
        words = "" if solver.counts_points else f" {solver.value_text(value, state)}"
        return f"{game.action_text(action, player)} {value:+d}{words}"

    def tell(action: int, value: int) -> None:
        if on_line:
            on_line(line(action, value))

    values = solver.action_values(state, time_limit=time_limit, on_value=tell)
    best_first = sorted(values, key=lambda action: (-values[action], game.action_text(action, player)))
    return [line(action, values[action]) for action in best_first]


def _result_line(solver: ExactSolver, state: State) -> str:
    value, player = solver.value(state), int(state.current_player[0])
    if value == 0:
        return "the match is over: a draw"
    winner = solver.game.presentation.player_names[player if value > 0 else 1 - player]
    return f"the match is over: {winner} has won" + (f" by {abs(value)}" if solver.counts_points else "")


@partial(Program, kind=AnalysisSettings, config="analysis")
def analyse(settings: AnalysisSettings) -> None:
    """Compare minimax, alpha-beta and NegaScout in one position.

    Shows their results, the positions that they visit, and the evaluation.

    selfplay analyse moves=f5d6c3 depth=6
    selfplay analyse moves=f5d6c3 depth=8 searches=[alpha_beta,negascout] search.ordered=true search.table_bits=18
    selfplay analyse moves=f5d6c3 depth=3 picture.file=tree.png
    selfplay analyse game_tree=article picture.file=tree.png
    selfplay analyse 'game_tree.payoffs=[[3,5],[[2,9],0]]'
    selfplay analyse 'features={discs: 30, corners: 2, stable: 5, mobility: 15}'
    selfplay analyse game=tictactoe evaluation=none depth=9 'moves=5 1'
    selfplay analyse game.sgf   # each move of a match in a file, valued by a strong player
    selfplay analyse game.sgf 'player=mcts:rollouts?simulations=5000' commented=commented.sgf
    """
    if settings.record is not None:
        with computing(settings):
            for line in record_lines(settings):
                print(line, flush=True)
    elif settings.features:
        print(analysis.features_report(settings))
    else:
        print(analysis.analysis_report(analysis.analyse(settings)))
