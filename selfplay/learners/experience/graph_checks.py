"""Checks of an experience graph against the rules of its game, for files that may be damaged."""

from collections.abc import Mapping

import torch

from selfplay.errors import IllegalActionError
from selfplay.games.state import State
from selfplay.learners.experience.graph import Board, BoardForm, Squares, rescored
from selfplay.settings.experience import ExperienceRule


def require(valid: bool, reason: str) -> None:
    """Raise ValueError with `reason` unless `valid`."""
    if not valid:
        raise ValueError(reason)


def checked_boards(boards: Mapping[int, Board], form: BoardForm) -> dict[int, Board]:
    """The boards with the player to move, after checking every board, end and step against the rules.

    The numbers in `following` must be keys of `boards`. Raises ValueError if a board contradicts the rules.
    """
    if not boards:
        return {}
    first_numbers: dict[Squares, int] = {}
    for number, board in boards.items():
        other = first_numbers.setdefault(board.squares, number)
        require(other == number, f"boards '{other}' and '{number}' have the same state")
    state = _state(boards, form)
    results = torch.where(state.terminated, state.returns, torch.nan).tolist()
    steps = form.steps([board.squares for board in boards.values()])
    for (number, board), result, reached in zip(boards.items(), results, steps, strict=True):
        if board.is_end:
            require(board.score == result, f"board '{number}': its end and score do not match its state")
        else:
            require(result not in (1, -1), f"board '{number}' is won but not marked as an end")
        forms = {step.form for step in reached}
        for child in board.following:
            one_move = form.of(boards[child].squares) in forms
            require(one_move, f"board '{number}': next '{child}' is not one move away from it")
    players = state.current_player.tolist()
    return {n: board._replace(player=player) for (n, board), player in zip(boards.items(), players, strict=True)}


def check_stored_boards(boards: Mapping[int, Board], form: BoardForm, rule: ExperienceRule) -> None:
    """Raise ValueError unless a store with this form and rule could have learned these boards from matches."""
    require(not boards or max(boards) == len(boards) - 1, f"the {len(boards)} boards are not numbered from 0")
    for number, board in boards.items():
        require(len(board.squares) == form.num_squares, f"board '{number}' does not have {form.num_squares} squares")
        require(form.of(board.squares) == board.squares, f"board '{number}' is not in the form that the store uses")
    by_rules = rescored(checked_boards(boards, form), rule)
    for number, board in boards.items():
        require(board.player == by_rules[number].player, f"board '{number}': the other player is to move")
        require(board.score == by_rules[number].score, f"board '{number}': its score does not follow from the others")


def _state(boards: Mapping[int, Board], form: BoardForm) -> State:
    try:
        return form.state([board.squares for board in boards.values()])
    except IllegalActionError:
        for number, board in boards.items():
            try:
                form.state([board.squares])
            except IllegalActionError as error:
                raise ValueError(f"board '{number}': {error}") from error
        raise
