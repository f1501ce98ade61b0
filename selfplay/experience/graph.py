"""The boards met in matches, which boards followed each, and how scores are backed up from the ends of matches.

The score of a final board is its result; that of any other board is

    score(b) = discount * backup(score(c) for c in following(b)),   0 if no following board is known,

from the view of player 0: 1 is a win of X, -1 of O. There are two backups. "absolute" takes the score of largest
absolute value, whoever is to move; if several are equal, the one of the board that was met first. "minimax" takes the
largest score if X is to move and the smallest if O is to move.
"""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.experience.rule import BACKUPS, ExperienceRule
from selfplay.games.game import Game
from selfplay.games.state import State

Squares = tuple[int, ...]
"""A board in C order: 1 for an X (player 0), -1 for an O, 0 for an empty square."""


class MetBoard(NamedTuple):
    """One board of the graph."""

    squares: Squares
    player: int
    """The player to move: 0 (X) or 1 (O)."""
    following: tuple[int, ...]
    """The numbers of the boards that have followed this one, in the order they were met."""
    score: float
    """In [-1, 1], from the view of player 0."""
    is_end: bool
    """Whether a match was won here. A drawn board is not an end; no board follows it and its score is 0."""


def backed_up_score(rule: ExperienceRule, scores: Sequence[float], player: int) -> float:
    """The score of a board that is not an end, with `player` to move, given the scores of the boards following it."""
    return rule.discount * BACKUPS[rule.backup](scores, player) if scores else 0.0


def rescored(boards: Mapping[int, MetBoard], rule: ExperienceRule) -> dict[int, MetBoard]:
    """All boards with recomputed scores. Raises ValueError if a board can be reached from itself."""
    scores: dict[int, float] = {}
    for number in TopologicalSorter({n: board.following for n, board in boards.items()}).static_order():
        board = boards[number]
        back = backed_up_score(rule, [scores[child] for child in board.following], board.player)
        scores[number] = board.score if board.is_end else back
    return {number: board._replace(score=scores[number]) for number, board in boards.items()}


class BoardStep(NamedTuple):
    """One legal action on a board."""

    action: int
    squares: Squares
    """The board it leads to."""
    form: Squares
    """That board in the form in which boards are compared."""
    player: int
    """The player to move there."""


class BoardForm:
    """The form in which boards are compared: the board itself, or one form for all symmetric images.

    Raises SettingError if `game` has no board of squares, or its boards do not determine who is to move.
    """

    def __init__(self, game: Game, canonical: bool = False) -> None:
        self.game = game
        start = game.squares(game.init())
        game.state_of_squares(start)
        self.num_squares = start.shape[1]
        views = game.symmetries.observations[:, : self.num_squares].tolist()
        self._views: list[list[int]] = views if canonical else []
        self._steps: dict[Squares, list[BoardStep]] = {}

    def of(self, squares: Squares) -> Squares:
        """`squares` itself, or its largest symmetric image, compared as tuples (X towards the first squares)."""
        if not self._views:
            return squares
        return max(tuple([squares[source] for source in view]) for view in self._views)

    def state(self, boards: Sequence[Squares]) -> State:
        """The positions of these boards. Raises as `Game.state_of_squares`."""
        squares: Tensor = torch.tensor(boards, dtype=torch.int8).reshape(len(boards), self.num_squares)
        return self.game.state_of_squares(squares)

    def steps(self, boards: Sequence[Squares]) -> list[list[BoardStep]]:
        """The legal actions on each board, lowest first; computed once per board and then kept."""
        fresh = [board for board in dict.fromkeys(boards) if board not in self._steps]
        if fresh:
            self._steps.update(zip(fresh, self._computed_steps(fresh), strict=True))
        return [self._steps[board] for board in boards]

    def _computed_steps(self, boards: Sequence[Squares]) -> list[list[BoardStep]]:
        state = self.state(boards)
        rows, actions = self.game.legal_action_mask(state).nonzero(as_tuple=True)
        reached = self.game.step_unchecked(state.select(rows), actions)
        columns = rows.tolist(), actions.tolist(), map(tuple, self.game.squares(reached).tolist())
        steps: list[list[BoardStep]] = [[] for _ in boards]
        for row, action, squares, player in zip(*columns, reached.current_player.tolist(), strict=True):
            steps[row].append(BoardStep(action, squares, self.of(squares), player))
        return steps


def ensure(valid: bool, reason: str) -> None:
    """Raise ValueError with `reason` unless `valid`."""
    if not valid:
        raise ValueError(reason)


def checked_boards(boards: Mapping[int, MetBoard], form: BoardForm) -> dict[int, MetBoard]:
    """The boards with the player to move, after checking every board, end and step against the rules.

    Raises ValueError if a board contradicts the rules.
    """
    if not boards:
        return {}
    first_numbers: dict[Squares, int] = {}
    for number, board in boards.items():
        other = first_numbers.setdefault(board.squares, number)
        ensure(other == number, f"boards '{other}' and '{number}' have the same state")
    state = form.state([board.squares for board in boards.values()])
    results = torch.where(state.terminated, state.returns, torch.nan).tolist()
    steps = form.steps([board.squares for board in boards.values()])
    for (number, board), result, reached in zip(boards.items(), results, steps, strict=True):
        if board.is_end:
            ensure(board.score == result, f"board '{number}': its end and score do not match its state")
        else:
            ensure(result not in (1, -1), f"board '{number}' is won but not marked as an end")
        forms = {step.form for step in reached}
        for child in board.following:
            ensure(child in boards, f"board '{number}': next '{child}' is missing")
            one_move = form.of(boards[child].squares) in forms
            ensure(one_move, f"board '{number}': next '{child}' is not one move away from it")
    players = state.current_player.tolist()
    return {n: board._replace(player=player) for (n, board), player in zip(boards.items(), players, strict=True)}


def check_stored_boards(boards: Mapping[int, MetBoard], form: BoardForm, rule: ExperienceRule) -> None:
    """Raise ValueError unless a store with this form and rule could have learned these boards from matches."""
    ensure(not boards or max(boards) == len(boards) - 1, f"the {len(boards)} boards are not numbered from 0")
    for number, board in boards.items():
        ensure(len(board.squares) == form.num_squares, f"board '{number}' does not have {form.num_squares} squares")
        ensure(form.of(board.squares) == board.squares, f"board '{number}' is not in the form that the store uses")
    by_rules = rescored(checked_boards(boards, form), rule)
    for number, board in boards.items():
        ensure(board.player == by_rules[number].player, f"board '{number}': the other player is to move")
        ensure(board.score == by_rules[number].score, f"board '{number}': its score does not follow from the others")
