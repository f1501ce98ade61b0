"""The exact value of every move in a position, as lines of text."""

from collections.abc import Callable

from selfplay.errors import SettingError
from selfplay.games import State
from selfplay.search.exact_solver import ExactSolver, empties


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

    Raises:
        SettingError: more squares are empty than the solver can solve and no time limit is set.
        TimeLimitError: time_limit is too short.
    """
    game = solver.game
    most, left = solver.practical_empties, int(empties(game, state)[0])
    if time_limit is None and left > most:
        raise SettingError(
            f"{left} squares are empty: solving this takes hours; use at most {most}, or set a time limit"
        )
    if bool(state.terminated[0]):
        return [_result_line(solver, state)]

    def line(action: int, value: int) -> str:
        words = "" if solver.counts_points else f" {solver.value_text(value, state)}"
        return f"{game.action_to_string(action)} {value:+d}{words}"

    def tell(action: int, value: int) -> None:
        if on_line:
            on_line(line(action, value))

    values = solver.action_values(state, time_limit=time_limit, on_value=tell)
    best_first = sorted(values, key=lambda action: (-values[action], game.action_to_string(action)))
    return [line(action, values[action]) for action in best_first]


def _result_line(solver: ExactSolver, state: State) -> str:
    value, player = solver.value(state), int(state.current_player[0])
    if value == 0:
        return "the match is over: a draw"
    winner = solver.game.presentation.player_names[player if value > 0 else 1 - player]
    return f"the match is over: {winner} has won" + (f" by {abs(value)}" if solver.counts_points else "")
