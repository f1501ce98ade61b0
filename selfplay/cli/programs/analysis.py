"""Programs that analyse a position."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from selfplay.cli.command import Program
from selfplay.compute.process import usable_cores
from selfplay.errors import InvalidFileError, SettingError
from selfplay.files import read_text, user_path
from selfplay.games import Game, State, make_game
from selfplay.games.othello_notation import written_position
from selfplay.games.othello_records import read_problems
from selfplay.playing import analysis
from selfplay.playing.record_analysis import record_lines
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.search.endgame.solver import EndgameSolver
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver, solver_class
from selfplay.settings.compose import composed_values, name_settings_modules
from selfplay.settings.evaluation import AnalysisSettings, SolveSettings
from selfplay.settings.run import Run

PROBLEM_FILE = ".obf"


@partial(Program, kind=SolveSettings, config="solve")
def solve_program(settings: SolveSettings) -> None:
    """Solve a position of Othello or Connect Four exactly.

    Prints one line per move with its exact score. Othello positions should be near the end of the match.

    selfplay solve 'BOARD SIDE'   one of X, O or - per square, row by row from a1, and the side to move; x, o, * and .
                                  are understood too, spaces between the rows, and a line of a problem file: BOARD X;
                                  g8:+18; h7:+12; % a comment
    selfplay solve TRANSCRIPT     the moves from the start, as in f5d6c3..., or a match in GGF
    selfplay solve problems.obf   a file of problems: the best move of each, and whether the file says the same
    selfplay solve game=connect_four 4453
    Othello: the number of discs by which the side to move wins. Empty squares count for the winner (see raw_discs).
    Connect Four: 22 minus the number of stones that the winner has played at the end, negative if the other side wins.
    """
    text = settings.moves.strip()
    if text.lower().endswith(PROBLEM_FILE):
        for line in problem_lines(user_path(text), settings):
            print(line, flush=True)
        return
    game, state = solvable_position(text, settings)
    report = (lambda line: print(f"solved: {line}", file=sys.stderr)) if sys.stderr.isatty() else None
    print("\n".join(move_value_lines(_solver_of(game, settings), state, settings.time_limit, report)))


def solvable_position(text: str, settings: SolveSettings) -> tuple[Game, State]:
    """The position of a text. Raises SettingError as `written_position`, and if solving it would take hours."""
    game, state = written_position(text, settings.game.name)
    # Before the solver is compiled.
    most, left = solver_class(game).practical_empties, int(empties(game, state)[0])
    if settings.time_limit is None and left > most and not bool(state.terminated[0]):
        raise SettingError(
            f"{left} squares are empty: solving this takes hours; use at most {most}, or set a time limit"
        )
    return game, state


def _solver_of(game: Game, settings: SolveSettings) -> ExactSolver:
    solver = EndgameSolver(game, empties_to_winner=False) if settings.raw_discs else make_exact_solver(game)
    solver.num_threads = settings.search_threads or usable_cores()
    return solver


def problem_lines(path: Path, settings: SolveSettings) -> Iterator[str]:
    """One line per problem of a file: its best moves and their value, and what the file says of it; at last how many
    have the value that the file gives. All are read before the first is solved.

    Raises InvalidFileError for a problem that cannot be read, and TimeLimitError if one takes too long.
    """
    problems = read_problems(read_text(path))
    if not problems:
        raise InvalidFileError(path, "has no problems; each is a line such as BOARD X; g8:+18; % a comment")
    positions = list[tuple[Game, State]]()
    for problem in problems:
        try:
            positions.append(solvable_position(problem.text, settings))
        except SettingError as error:
            raise InvalidFileError(path, f"line {problem.line}: {error}") from error
    solvers = {game: _solver_of(game, settings) for game in {game for game, _ in positions}}
    agreeing = 0
    for problem, (game, state) in zip(problems, positions, strict=True):
        values = move_values(solvers[game], state, settings.time_limit)
        best = max((value for _, value in values), default=solvers[game].value(state))
        said = max(problem.stated.values(), default=best)
        agreeing += said == best
        moves = ", ".join(name for name, value in values if value == best) or "the match is over"
        remark = "" if said == best else f"; the file says {said:+d}"
        yield f"{problem.name or f'line {problem.line}'}: {moves} {best:+d}{remark}"
    yield f"{len(problems)} problems, {agreeing} as the file says"


def move_values(
    solver: ExactSolver, state: State, time_limit: float | None, on_move: Callable[[str, int], None] | None = None
) -> list[tuple[str, int]]:
    """The legal moves (B = 1) with their values, best first; equal moves are sorted by name.

    `on_move` is called with each of them as soon as it is solved, in another thread.
    """
    player, found = int(state.current_player[0]), list[tuple[str, int]]()

    def add(action: int, value: int) -> None:
        found.append((solver.game.action_text(action, player), value))
        if on_move is not None:
            on_move(*found[-1])

    solver.action_values(state, time_limit=time_limit, on_value=add)
    return sorted(found, key=lambda move: (-move[1], move[0]))


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
    if bool(state.terminated[0]):
        return [_result_line(solver, state)]

    def line(move: str, value: int) -> str:
        words = "" if solver.counts_points else f" {solver.value_text(value, state)}"
        return f"{move} {value:+d}{words}"

    tell = None if on_line is None else lambda move, value: on_line(line(move, value))
    return [line(move, value) for move, value in move_values(solver, state, time_limit, tell)]


def _result_line(solver: ExactSolver, state: State) -> str:
    value, player = solver.value(state), int(state.current_player[0])
    if value == 0:
        return "the match is over: a draw"
    winner = solver.game.presentation.player_names[player if value > 0 else 1 - player]
    return f"the match is over: {winner} has won" + (f" by {abs(value)}" if solver.counts_points else "")


def with_usual_evaluation(overrides: Sequence[str]) -> tuple[list[str], str]:
    """The overrides of `selfplay analyse`, before them the usual evaluation of the game that they name, unless they
    choose one."""
    given = {re.split(r"[.=]", override.lstrip("+~"))[0] for override in overrides}
    if "game" not in given or given & {"evaluation", "evaluation_file"}:
        return list(overrides), ""
    name = str(composed_values(AnalysisSettings, "analysis", overrides).game.name)
    name_settings_modules({"game": name})
    usual = make_game(name).usual_evaluation
    if not (CONFIG_FOLDER / "evaluation" / f"{usual}.yaml").exists():  # such as a rule of one's own
        return list(overrides), ""
    return [f"evaluation={usual}", *overrides], ""


@partial(Program, kind=AnalysisSettings, config="analysis", choose=with_usual_evaluation)
def analyse_program(settings: AnalysisSettings) -> None:
    """Compare minimax, alpha-beta and NegaScout in one position.

    Shows their results, the positions that they visit, and the evaluation.

    selfplay analyse moves=f5d6c3 depth=6
    selfplay analyse moves=f5d6c3 depth=8 searches=[alpha_beta,negascout] search.ordered=true search.table_bits=18
    selfplay analyse moves=f5d6c3 depth=3 picture.file=tree.png
    selfplay analyse game_tree=article picture.file=tree.png
    selfplay analyse 'game_tree.payoffs=[[3,5],[[2,9],0]]'
    selfplay analyse 'features={discs: 30, corners: 2, stable: 5, mobility: 15}'
    selfplay analyse game=tictactoe depth=9 'moves=5 1'
    selfplay analyse game.sgf   # each move of a match in a file, valued by a strong player
    selfplay analyse game.sgf 'player=mcts:rollouts?simulations=5000' commented=commented.sgf
    """
    run = Run.of(settings)
    if settings.record is not None:
        for line in record_lines(run):
            print(line, flush=True)
    elif settings.features:
        print(analysis.features_report(run))
    else:
        print(analysis.analysis_report(analysis.analyse(run)))
