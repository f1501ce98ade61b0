"""Many recorded matches replayed together: the moves as they were written become matches by the rules of a game."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.errors import shortened
from selfplay.games import Game
from selfplay.games.state import MATCH_OVER, MatchRecord, State

UNKNOWN = -1
"""The seat of a move whose player is not said."""


class Moves(NamedTuple):
    """The moves of N matches as they were written, not checked against the rules."""

    actions: Tensor
    """int64[N, T]: the actions in order; MATCH_OVER after the last one. Passes may be left out."""
    returns: Tensor
    """float32[N] in {-1, 0, 1}: the result for player 0 as it is written; nan: not known. It counts where the rules do
    not end the match, and in Go, whose players agree on dead stones that the rules here do not find."""
    points: Tensor
    """float64[N]: the lead of player 0 at the end as it is written; nan: not known. It counts as `returns` does."""
    seats: Tensor | None = None
    """int8[N, T]: who makes each move, 0, 1 or UNKNOWN; None: no record says it."""
    starts: State | None = None
    """The positions (B = N) in which the matches begin; None: all at the start of the game."""
    broken: Mapping[int, str] = MappingProxyType({})
    """Why matches could not be read, by their rows. They have no moves."""


class Replayed(NamedTuple):
    """The matches that follow the rules, and why the others do not."""

    record: MatchRecord
    """Their last states are terminated and have the written results, also if the rules did not end the match."""
    points: Tensor
    """float64[B]: the lead of player 0 at the end; nan where it is not known, or the game counts no points."""
    broken: dict[int, str]
    """The reasons by the rows of `Moves`."""


def replayed(game: Game, moves: Moves, numbers: Tensor, *, needs_points: bool = False) -> Replayed:
    """Replay matches by the rules, thousands in lockstep.

    A pass is put in where a record leaves it out: where nothing else is legal, and before a move of a player who moves
    twice in a row. A match that ends before the rules end it needs a written result.

    Args:
        numbers: int64[N], the numbers that the matches get.
        needs_points: whether a match whose points are not known is broken.
    """
    replay = _Replay(game, moves)
    while bool(replay.is_active.any()):
        replay.play_ply()
    replay.check_ends(needs_points)
    good = torch.ones(len(numbers), dtype=torch.bool)
    good[list(replay.broken)] = False
    states, actions, points = replay.states, replay.actions, replay.points
    if replay.broken:
        states, actions, points = [state.select(good) for state in states], [a[good] for a in actions], points[good]
    match = numbers[good]
    record = MatchRecord(match, torch.zeros(len(match), dtype=torch.int8), tuple(states), tuple(actions))
    return Replayed(record, points, replay.broken)


class _Replay:
    """The matches of a batch, one ply after the other."""

    def __init__(self, game: Game, moves: Moves) -> None:
        size = len(moves.actions)
        self.game, self.moves, self.broken = game, moves, dict(moves.broken)
        # A column more, so that the move after the last one can be looked up.
        self.written = torch.cat([moves.actions, torch.full((size, 1), MATCH_OVER)], dim=1)
        self.next = torch.zeros(size, dtype=torch.int64)
        """int64[N]: the number of moves that were made."""
        start = game.init(size) if moves.starts is None else moves.starts
        self.is_cut = torch.zeros(size, dtype=torch.bool)
        """bool[N]: the matches that ended before the rules end them."""
        self.states, self.actions = [self._ended(start)], list[Tensor]()

    @property
    def is_active(self) -> Tensor:
        """bool[N]: the matches that go on."""
        return ~self.states[-1].terminated

    def _written(self) -> tuple[Tensor, Tensor | None]:
        """int64[N]: the next move of each match, and who makes it."""
        column, seats = self.next[:, None], self.moves.seats
        if seats is not None:
            seats = torch.nn.functional.pad(seats, (0, 1), value=UNKNOWN).gather(1, column)[:, 0]
        return self.written.gather(1, column)[:, 0], seats

    def play_ply(self) -> None:
        """Play the next move of each match, or a pass that is left out; one that is illegal ends its match."""
        game, state, active = self.game, self.states[-1], self.is_active
        action, seats = self._written()
        mask = game.legal_action_mask(state)
        in_range = (action >= 0) & (action < game.num_distinct_actions)
        legal = mask.gather(1, torch.where(in_range, action, 0)[:, None])[:, 0] & in_range
        passes = torch.zeros_like(active)
        if seats is not None:
            out_of_turn = (seats != UNKNOWN) & (seats != state.current_player)
            legal &= ~out_of_turn
        if game.pass_action is not None:
            passes = mask[:, game.pass_action] & ~legal & active
            forced = mask.sum(dim=1) == 1
            passes &= forced if seats is None else forced | out_of_turn
            action = torch.where(passes, game.pass_action, action)
        for row in (active & ~legal & ~passes).nonzero()[:, 0].tolist():
            self.broken[row] = self._why_illegal(row, state, seats)
        played = active & (legal | passes)
        self.actions.append(torch.where(played, action, MATCH_OVER))
        stopped = state._replace(terminated=state.terminated | ~played)
        self.next += (legal & active).long()
        self.states.append(self._ended(game.step_unchecked(stopped, action)))

    def _why_illegal(self, row: int, state: State, seats: Tensor | None) -> str:
        number, action = int(self.next[row]) + 1, int(self.written[row, self.next[row]])
        known = 0 <= action < self.game.num_distinct_actions
        player = int(state.current_player[row])
        text = self.game.action_text(action, player) if known else "off the board"
        is_other = seats is not None and int(seats[row]) not in (UNKNOWN, player)
        return f"move {number}, {shortened(text)}, {'is out of turn' if is_other else 'is not legal'}"

    def _ended(self, state: State) -> State:
        """The states, of which those after the last move of a record are terminated, with its written result."""
        at_end = (self.written.gather(1, self.next[:, None])[:, 0] == MATCH_OVER) & ~state.terminated
        self.is_cut |= at_end
        returns = torch.where(at_end, self.moves.returns, state.returns)
        return state._replace(terminated=state.terminated | at_end, returns=returns)

    def check_ends(self, needs_points: bool) -> None:
        """Give the last states the written results, and find the matches without one."""
        last, written, game = self.states[-1], self.moves, self.game
        decided = ~self.is_cut & (written.returns.isnan() if game.komi is not None else True)
        returns = torch.where(decided, last.returns, written.returns)
        self.states[-1] = last._replace(returns=returns)
        lead = (
            game.score(last).double() if game.rules.margin is not None else torch.full_like(written.points, torch.nan)
        )
        self.points = torch.where(decided, lead, written.points)
        rest = self.written.gather(1, self.next[:, None])[:, 0]
        late = (rest != MATCH_OVER) & (rest != (MATCH_OVER if game.pass_action is None else game.pass_action))
        lacking = {"is not over, and has no result": returns.isnan(), "has moves after its end": late}
        if (most := game.largest_lead) is not None:
            lacking["has a result that is not possible"] = self.points.abs() > most
        if needs_points:
            lacking["has no result in points"] = self.points.isnan()
        for reason, found in lacking.items():
            for row in found.nonzero()[:, 0].tolist():
                self.broken.setdefault(row, reason)


def concatenated(parts: Sequence[Moves], game: Game) -> Moves:
    """The matches of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    width = max(part.actions.shape[1] for part in parts)

    def padded(rows: Tensor, value: int) -> Tensor:
        return torch.nn.functional.pad(rows, (0, width - rows.shape[1]), value=value)

    seats = starts = None
    if any(part.seats is not None for part in parts):
        unknown = [torch.full(part.actions.shape, UNKNOWN, dtype=torch.int8) for part in parts]
        seats = torch.cat(
            [
                padded(none if part.seats is None else part.seats, UNKNOWN)
                for part, none in zip(parts, unknown, strict=True)
            ]
        )
    if any(part.starts is not None for part in parts):
        all_starts = [game.init(len(part.actions)) if part.starts is None else part.starts for part in parts]
        starts = State(*(torch.cat(fields) for fields in zip(*all_starts, strict=True)))
    broken, first = dict[int, str](), 0
    for part in parts:
        broken |= {first + row: reason for row, reason in part.broken.items()}
        first += len(part.actions)
    return Moves(
        torch.cat([padded(part.actions, MATCH_OVER) for part in parts]),
        torch.cat([part.returns for part in parts]),
        torch.cat([part.points for part in parts]),
        seats,
        starts,
        broken,
    )
