"""Many recorded matches checked together: the moves as they were written become matches by the rules of a game."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from selfplay.errors import shortened
from selfplay.games import Game
from selfplay.games.state import MATCH_OVER, MatchRecord, State
from selfplay.records.written import UNKNOWN, WrittenMoves


class CheckedMatches(NamedTuple):
    """The matches that follow the rules, and why the others do not."""

    record: MatchRecord
    """Their last states are terminated and have the written results, also if the rules did not end the match."""
    points: Tensor
    """float64[B]: the lead of player 0 at the end; nan where it is not known, or the game counts no points."""
    broken: dict[int, str]
    """The reasons by the rows of `WrittenMoves`."""


def checked_matches(game: Game, moves: WrittenMoves, numbers: Tensor, *, needs_points: bool = False) -> CheckedMatches:
    """Replay matches by the rules, thousands in lockstep.

    A pass is put in where a record leaves it out and nothing else is legal. A match that ends before the rules end it
    needs a written result.

    Args:
        numbers: int64[N], the numbers that the matches get.
        needs_points: whether a match whose points are not known is broken.
    """
    check = _Check(game, moves)
    while bool(check.is_active.any()):
        check.play_ply()
    check.check_ends(needs_points)
    good = torch.ones(len(numbers), dtype=torch.bool)
    good[list(check.broken)] = False
    states, actions, points = check.states, check.actions, check.points
    if check.broken:
        states, actions, points = [state.select(good) for state in states], [a[good] for a in actions], points[good]
    match = numbers[good]
    record = MatchRecord(match, torch.zeros(len(match), dtype=torch.int8), tuple(states), tuple(actions))
    return CheckedMatches(record, points, check.broken)


class _Check:
    """The matches of a batch, one ply after the other."""

    def __init__(self, game: Game, moves: WrittenMoves) -> None:
        size = len(moves.actions)
        self.game, self.moves, self.broken, self.passing = game, moves, dict(moves.broken), game.any_pass
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
            seats = pad(seats, (0, 1), value=UNKNOWN).gather(1, column)[:, 0]
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
        if self.passing is not None:
            passes = mask[:, self.passing] & ~legal & active
            passes &= mask.sum(dim=1) == 1
            action = torch.where(passes, self.passing, action)
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
        late = (rest != MATCH_OVER) & (rest != (MATCH_OVER if self.passing is None else self.passing))
        lacking = {"has no moves": self.next == 0, "is not over, and has no result": returns.isnan()}
        lacking["has moves after its end"] = late
        if (most := game.largest_lead) is not None:
            lacking["has a result that is not possible"] = self.points.abs() > most
        if needs_points:
            lacking["has no result in points"] = self.points.isnan()
        for reason, found in lacking.items():
            for row in found.nonzero()[:, 0].tolist():
                self.broken.setdefault(row, reason)
