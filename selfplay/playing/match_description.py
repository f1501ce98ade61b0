"""The current match of a session as data for JSON: moves, what they change, values, the result.

What follows from these, such as captured stones or the squares of a line, is left to the user interface.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# ruff: noqa: RUF009 - `_described` makes a dataclass field.
import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.games.state import State, joined
from selfplay.players.estimates import Estimate, results_known_at_once
from selfplay.playing.result_text import Result, lead_of, points_of, result_of
from selfplay.playing.session import Session


def _described(text: str) -> Any:
    """A required field. Pydantic copies the text into the schemas that it makes of these classes."""
    return field(metadata={"description": text})


@dataclass(frozen=True, kw_only=True)
class ValuedAction:
    """An action and its value to the player who takes it."""

    action: int
    text: str = _described("The action as `moves` have it.")
    name: str = _described(
        "What people read: the text or, where that is only a number, the squares that the action changes."
    )
    value: float | None = _described("Estimated beforehand, or exact; null if unknown.")
    words: str | None = _described('The value in words if it is exact, such as "wins in 8"; null: an estimate.')


@dataclass(frozen=True, kw_only=True)
class ActionData(ValuedAction):
    """A legal action, as the adviser values it."""

    square: int | None = _described("The square on which it puts a stone or a mark; null if it puts none.")
    content: int | None = _described(
        "What is then on that square, see `start`; null if it also places or takes away something else of the player, "
        "apart from the stone that it takes from the other one of two squares."
    )
    pointed: list[int] = _described(
        "The squares that select this action when a person clicks one of them; both, if it moves a stone between two."
    )
    result: int | None = _described(
        "Its result for the player to move with perfect play, 1, 0 or -1; null if not known at once."
    )
    visits: int | None = _described("The adviser's simulations through it; null if it does not search a tree.")
    end: Result | None = _described(
        "For a pass by which the match can end as the board stands: the result; null for other actions."
    )
    ends_at_once: bool = _described("Whether it ends so by this pass; if not, by a pass in reply.")


@dataclass(frozen=True, kw_only=True)
class PlyData(ValuedAction):
    """A ply that has been played."""

    seat: int
    by_person: bool
    is_forced: bool = _described("Whether passing was the only legal action.")
    is_random: bool | None = _described("Whether an exploring player chose at random; null if it was not exploring.")
    reason: str | None = _described("Why the player chose the action; null if it does not say.")
    pointed: list[int] = _described("The squares that select this action, as in `legal`.")
    changes: list[tuple[int, int]] = _described(
        "The squares that it changed, and what is on each afterwards; see `start`."
    )
    place: int | None = _described("The position after the ply as a number, in games whose positions are numbers.")
    in_points: bool = _described("Whether the value is a number of points, estimated or exact.")
    best: ValuedAction | None = _described("The best action by the same values; null if unknown.")


@dataclass(frozen=True, kw_only=True)
class MatchData:
    """The state of a match. Seat 0 moves first, seat 1 second."""

    board: str = _described("The position as text.")
    start: list[int] | None = _described(
        "What is on each square of the first position: 1 for a stone of seat 0, -1 for one of seat 1, 0 for none, and "
        "3 times the numbers of its marks, 2**k for number k from 0 in the game's `square_marks`; null: no board."
    )
    numbers: str = _described("What the board does not show of the position, as text; empty: nothing.")
    shown: int = _described("The number of plies before the position that is described, in what follows.")
    points: list[float] | None = _described("The points of each seat, such as discs; null if they are not known.")
    lead: float | None = _described("By how many points seat 0 leads as the board stands; null if no points count.")
    komi: float | None = _described("The points that seat 1 has from the start, in games that give it some.")
    ko: int | None = _described(
        "The empty square that may not be taken because a position would repeat; null if there is none."
    )
    owners: list[int] | None = _described(
        "At the end, in games in which squares count: 1 for a square of seat 0, -1 for one of seat 1, 0 for neither."
    )
    place: int | None = _described("The position as a number, in games whose positions are numbers.")
    to_move: int | None = _described("The seat to move; null if the match is over.")
    awaits_person: bool = _described("Whether a person has to choose an action.")
    values_in_points: bool = _described(
        "Whether the values of the legal actions are numbers of points, estimated or exact."
    )
    legal: list[ActionData] = _described("The legal actions, if a person has to choose one of them.")
    plies: list[PlyData]
    is_over: bool
    is_practice: bool = _described("Whether the match does not count: its end was taken back, or it was set up.")
    result: Result | None = _described("How it has ended; null before the end.")
    moves: str = _described("The actions so far as text, from which the match can be resumed.")
    standing: str | None = _described("Results of the session so far as text; null before the first match has ended.")


def describe(session: Session, ply: int | None = None) -> MatchData:
    """The description of the current match, with the action values that the session knows already.

    Args:
        ply: show the position before this ply, numbered from 0, with the actions that were legal there; None: the
            current position. The plies are always those of the whole match.
    """
    game, presentation = session.game, session.game.presentation
    number = len(session.plies) if ply is None else ply
    states = joined(session.match.states)
    boards = None if game.num_squares is None else presentation.contents(states).numpy()
    line, names = presentation.position_line, _names_of_plies(session, states)
    places = [None] * states.batch_size if line is None else line.place(states).tolist()
    state = session.match.state_before(number)
    is_over = bool(state.terminated)
    is_chosen_here = session.awaits_person if ply is None else not is_over
    estimate = session.estimates.get(number) if is_chosen_here else None
    # Where people ended the match, the board is not counted.
    is_counted = is_over and bool(game.state_at(state.position).terminated)
    points = points_of(game, state._replace(terminated=torch.tensor([is_counted])))
    return MatchData(
        board=presentation.board_text(state),
        numbers=presentation.numbers_text(state),
        start=None if boards is None else boards[0].tolist(),
        shown=number,
        points=None if points is None else list(points),
        lead=lead_of(game, state),
        komi=game.komi_in(state),
        ko=presentation.ko(state),
        owners=game.owners(state)[0].tolist() if is_counted and game.rules.owned is not None else None,
        place=places[number],
        to_move=None if is_over else int(state.current_player),
        awaits_person=session.awaits_person,
        values_in_points=estimate is not None and estimate.in_points,
        legal=_legal_actions(session, ply, estimate) if is_chosen_here else [],
        plies=[
            _described_ply(session, one, boards, squares, places[one + 1], names)
            for one, squares in enumerate(_squares_of_plies(session, boards))
        ],
        is_over=is_over,
        is_practice=session.is_practice,
        result=result_of(session.match) if session.is_over else None,
        moves=game.write_transcript(session.match.actions),
        standing=session.standing(),
    )


def _legal_actions(session: Session, ply: int | None, estimate: Estimate | None) -> list[ActionData]:
    game, match = session.game, session.match if ply is None else session.match.before(ply)
    state, actions = match.state, match.legal_actions()
    placed, pointed = game.presentation.placed(state, actions), game.presentation.pointed_in(state, actions)
    names = game.presentation.action_names(state, [0] * len(actions), actions)
    visits = None if estimate is None else estimate.visits
    results = results_known_at_once(game, state)
    return [
        ActionData(
            **vars(valued_action(game, int(state.current_player), action, name, estimate)),
            **put._asdict(),
            pointed=clicked,
            result=None if results is None else int(results[action]),
            visits=None if visits is None else int(visits[action]),
            **_end_by_pass(match, action),
        )
        for action, name, put, clicked in zip(actions, names, placed, pointed, strict=True)
    ]


def _squares_of_plies(session: Session, boards: NDArray[np.int64] | None) -> list[list[int]]:
    """The squares that select the action of each ply, in a game with `boards` (int64[1 + plies, S])."""
    actions = [ply.action for ply in session.plies]
    if boards is None:
        return [[] for _ in actions]
    seats = np.array([ply.seat for ply in session.plies], dtype=np.int64)
    return session.game.presentation.pointed_between(
        actions, boards[: len(actions)], boards[1 : len(actions) + 1], seats
    )


def _best_at(session: Session, number: int) -> int | None:
    """The best action that is known before a ply, if it was a choice."""
    estimate = None if session.plies[number].is_forced else session.estimates.get(number)
    return None if estimate is None else estimate.best


def _names_of_plies(session: Session, states: State) -> dict[tuple[int, int], str]:
    """What people read of the action of each ply, and of the best one in its place: by the ply and the action."""
    pairs = dict.fromkeys(
        (number, action)
        for number, ply in enumerate(session.plies)
        for action in (ply.action, _best_at(session, number))
        if action is not None
    )
    rows, actions = ([pair[place] for pair in pairs] for place in (0, 1))
    return dict(zip(pairs, session.game.presentation.action_names(states, rows, actions), strict=True))


def valued_action(game: Game, seat: int, action: int, name: str, estimate: Estimate | None) -> ValuedAction:
    """An action of a seat as an estimate values it; None: as nobody does. `name`: what people read."""
    value, words = (None, None) if estimate is None else (estimate.value(action), estimate.words(action))
    return ValuedAction(action=action, text=game.action_text(action, seat), name=name, value=value, words=words)


def _end_by_pass(match: Match, action: int) -> dict[str, Any]:
    """The end to which an action without a square can lead, in a game in which squares count."""
    if match.game.rules.owned is None or match.game.presentation.pointed_squares(action):
        return {"end": None, "ends_at_once": False}
    after = match.play(action)
    end = after if after.is_over else after.play(action)
    return {"end": result_of(end) if end.is_over else None, "ends_at_once": after.is_over}


def _described_ply(
    session: Session,
    number: int,
    boards: NDArray[np.int64] | None,
    pointed: list[int],
    place: int | None,
    names: Mapping[tuple[int, int], str],
) -> PlyData:
    game, ply = session.game, session.plies[number]
    estimate = None if ply.is_forced else session.estimates.get(number)
    changed = [] if boards is None else np.flatnonzero(boards[number] != boards[number + 1]).tolist()
    valued = valued_action(game, ply.seat, ply.action, names[number, ply.action], estimate)
    best = _best_at(session, number)
    return PlyData(
        **ply._asdict() | vars(valued),
        pointed=pointed,
        changes=[] if boards is None else [(square, int(boards[number + 1, square])) for square in changed],
        place=place,
        in_points=valued.value is not None and estimate is not None and estimate.in_points,
        best=None if best is None else valued_action(game, ply.seat, best, names[number, best], estimate),
    )
