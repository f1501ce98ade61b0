"""Walks every line of play against a player, breadth first, and lets the exact solver judge each of its actions.

Positions are walked ply by ply. When the opponent is to move, every legal action is followed, or only the best ones;
when the player is to move, the actions that it may take. A position is walked once, even if several lines lead to it.
Mirror images are different positions, because a player that takes the lowest of equally good actions does not play
symmetrically.

No line to a mistake is shorter than the line to the first mistake that the walk finds. If the walk finds none, the
player is proved never to lower the worth of a position (see `selfplay.grading.winning_proof.action_judge`).

The state of an unfinished walk is a mapping of arrays, which may be on disk:

    ply_012                         the positions after 12 plies of the walk
    judged_012_000004096_000008192  the player's actions in some of them
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words
from selfplay.compute.positions import Packed
from selfplay.games import Game, State
from selfplay.games.distinct_positions import distinct_positions
from selfplay.grading.winning_proof.action_judge import Judged, Positions
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import EVERY_LOSS, WIN

STEPPED = 1 << 20
"""Number of positions whose successors are computed together."""


class PlyPositions(NamedTuple):
    """N different positions after the same number of plies, in the order in which the walk meets them."""

    position: Packed
    """int64[N, W]: the positions, packed."""
    parents: Words
    """int64[N]: the row of a position in the ply before from which it was met first."""
    actions: Words
    """int64[N]: the action from that position to this one."""
    are_won: NDArray[np.bool_]
    """bool[N]: whether the position is known to be won for the examined player."""


class Moves(NamedTuple):
    """E moves from the positions of a ply."""

    parents: Words
    """int64[E]: the row of each position."""
    actions: Words
    """int64[E]"""
    are_won: NDArray[np.bool_]
    """bool[E]: whether the position after the move is known to be won for the examined player."""


Arrays = TypeVar("Arrays", PlyPositions, Judged)


class PlyCounts(NamedTuple):
    """What was found in the positions of one ply; a row of plies.csv."""

    ply: int
    """Number of plies since the start of the match."""
    is_turn: bool
    positions: int
    won: int
    drawn: int
    lost: int
    solved: int
    """Positions that the player solves exactly itself; they are not walked further."""
    wins_given_away: int
    draws_given_away: int
    losses_hastened: int
    """From a lost start: actions after which the player loses by more or sooner than necessary."""
    line: str | None
    """The numbers of the actions from the start of the walk to the first mistake; None without mistakes."""

    @property
    def judged(self) -> int:
        """Number of positions in which the player's action was judged."""
        return self.positions - self.won - self.drawn - self.lost - self.solved if self.is_turn else 0

    @property
    def mistakes(self) -> int:
        return self.wins_given_away + self.draws_given_away + self.losses_hastened


class Walk(NamedTuple):
    """A walk: what is examined, and where its parts are judged and kept."""

    game: Game
    start: State
    """One position; its current_player is that of the match."""
    seat: int
    """The seat of the examined player: 0 if it moved first in the match."""
    result: int
    """The exact result of `start` to the player: 1, 0 or -1."""
    judge: Callable[[Iterable[Positions]], Iterator[Judged]]
    """Judges parts of a ply in order, each as `selfplay.grading.winning_proof.action_judge.judge` does; it may judge
    several at the same time."""
    state: MutableMapping[str, Mapping[str, NDArray[Any]]]
    """The state of the walk; a dict keeps it in memory."""
    first_ply: int = 0
    """Number of plies of the match before `start`."""
    reply_mask: Callable[[State], Tensor] | None = None
    """Finds the actions of the opponent that are followed in B positions: bool[B, A]. None: the legal ones."""
    to_first_mistake: bool = True
    """Whether to stop at the first mistake; else every position is walked."""
    part_positions: int = 4096
    """Number of positions that are judged between two saved states; does not change the result."""
    progress: ProgressBar = NoProgress

    @property
    def lowest(self) -> int:
        """The lowest worth of a position, see `selfplay.grading.winning_proof.action_judge`."""
        return EVERY_LOSS if self.result < 0 else -1

    def plies(self, finished: Sequence[PlyCounts] = ()) -> Iterator[PlyCounts]:
        """Walk the plies after those that are `finished`, and yield what was found in each.

        What is judged in a ply is kept until the next one is requested: record the counts before that. Raises what
        `judge` and `state` raise.
        """
        number, is_over = len(finished), len(finished) > 0 and self._is_last(finished[-1])
        if number == 0:
            first, origin = self.start.position.numpy(), np.zeros(1, dtype=np.int64)
            self._save(_ply_name(0), PlyPositions(first, origin, origin, np.array([self.result == WIN])))
        while not is_over and len((ply := self._load(_ply_name(number), PlyPositions)).position) > 0:
            counts = self._walk_ply(number, ply)
            yield counts
            for name in [name for name in self.state if name.startswith("judged_")]:
                del self.state[name]
            number, is_over = number + 1, self._is_last(counts)

    def _save(self, name: str, arrays: PlyPositions | Judged) -> None:
        self.state[name] = arrays._asdict()

    def _load(self, name: str, kind: type[Arrays]) -> Arrays:
        return kind(**self.state[name])

    def _is_last(self, counts: PlyCounts) -> bool:
        return self.to_first_mistake and counts.mistakes > 0

    def _is_turn(self, number: int) -> bool:
        return (int(self.start.current_player[0]) + number) % 2 == self.seat

    def _walk_ply(self, number: int, ply: PlyPositions) -> PlyCounts:
        if not self._is_turn(number):
            self._save(_ply_name(number + 1), self._following(ply, self._replies(ply)))
            return self._counts(number, ply)
        turns = (~self._state(ply).terminated).nonzero()[:, 0].numpy()
        judged = self._judged(number, ply, turns)
        if not judged.are_mistakes.any():
            self._save(_ply_name(number + 1), self._following(ply, _answers(turns, judged)))
            return self._counts(number, ply, judged)
        first = int(judged.are_mistakes.argmax())
        row = int(turns[judged.rows[first]])
        line = self._line(number, row, int(judged.actions[first]))
        if not self.to_first_mistake:
            self._save(_ply_name(number + 1), self._following(ply, _answers(turns, judged)))
            return self._counts(number, ply, judged, line)
        return self._counts(number, _rows_of(ply, slice(row + 1)), _to_action(judged, first), line)

    def _state(self, ply: PlyPositions) -> State:
        """The positions, with their results for the player to move."""
        return self.game.state_at(torch.from_numpy(ply.position))

    # ------------------------------------------------------------------ judging

    def _judged(self, number: int, ply: PlyPositions, turns: Words) -> Judged:
        """The player's actions in the rows `turns` of a ply; if the walk ends there, only in the first of these
        rows."""
        parts, slices = [], _slices(len(turns), self.part_positions)
        names = [f"judged_{number:03d}_{rows.start:09d}_{rows.stop:09d}" for rows in slices]
        known = [self._load(name, Judged) if name in self.state else None for name in names]
        asked = (turns[rows] for rows, part in zip(slices, known, strict=True) if part is None)
        new = self.judge(Positions(ply.position[rows], ply.are_won[rows], self.lowest, self.seat) for rows in asked)
        with closing(self.progress(total=len(turns), desc=f"ply {self.first_ply + number}")) as bar:
            for name, rows, saved in zip(names, slices, known, strict=True):
                part = next(new) if saved is None else saved
                if saved is None:
                    self._save(name, part)
                parts.append(part._replace(rows=part.rows + rows.start))
                bar.update(rows.stop - rows.start)
                if self.to_first_mistake and part.are_mistakes.any():
                    break
        return Judged(*map(np.concatenate, zip(*parts, strict=True)))

    # ------------------------------------------------------------------ the next ply

    def _replies(self, ply: PlyPositions) -> Iterator[Moves]:
        reply_mask = self.game.legal_action_mask if self.reply_mask is None else self.reply_mask
        for rows in _slices(len(ply.position), STEPPED):
            mask = reply_mask(self._state(_rows_of(ply, rows)))
            parents, actions = (index.numpy() for index in mask.nonzero(as_tuple=True))
            parents += rows.start
            yield Moves(parents, actions, ply.are_won[parents])

    def _following(self, ply: PlyPositions, moves: Iterable[Moves]) -> PlyPositions:
        """The different positions to which these moves lead."""
        parts = []
        for some in moves:
            state = self.game.state_at(torch.from_numpy(ply.position[some.parents]))
            after = self.game.step_unchecked(state, torch.from_numpy(some.actions))
            parts.append(_distinct(PlyPositions(after.position.numpy(), *some)))
        return parts[0] if len(parts) == 1 else _distinct(PlyPositions(*map(np.concatenate, zip(*parts, strict=True))))

    # ------------------------------------------------------------------ what was found

    def _counts(
        self, number: int, ply: PlyPositions, judged: Judged | None = None, line: str | None = None
    ) -> PlyCounts:
        state, is_turn = self._state(ply), self._is_turn(number)
        results = (state.returns if is_turn else -state.returns)[state.terminated]
        won, drawn, lost = (int((results == result).sum()) for result in (1, 0, -1))
        mistakes = (0, 0, 0) if judged is None else _mistakes(judged)
        solved = 0 if judged is None else int(judged.solved.sum())
        return PlyCounts(self.first_ply + number, is_turn, len(ply.position), won, drawn, lost, solved, *mistakes, line)

    def _line(self, number: int, row: int, action: int) -> str:
        """The actions that lead to a row of a ply, and `action`."""
        actions = [action]
        for earlier in range(number, 0, -1):
            ply = self._load(_ply_name(earlier), PlyPositions)
            actions.append(int(ply.actions[row]))
            row = int(ply.parents[row])
        return " ".join(map(str, reversed(actions)))


def _ply_name(number: int) -> str:
    return f"ply_{number:03d}"


def _slices(count: int, size: int) -> list[slice]:
    """The rows from 0 to `count` in pieces of `size`; at least one piece."""
    return [slice(start, min(start + size, count)) for start in range(0, max(count, 1), size)]


def _answers(turns: Words, judged: Judged) -> Iterator[Moves]:
    for some in _slices(len(judged.rows), STEPPED):
        keep_the_win = (judged.worth[some] == WIN) & ~judged.are_mistakes[some]
        yield Moves(turns[judged.rows[some]], judged.actions[some], keep_the_win)


def _distinct(ply: PlyPositions) -> PlyPositions:
    """The different positions of a ply, in the order in which they are met first."""
    first_rows, inverse = distinct_positions(torch.from_numpy(ply.position))
    first = _rows_of(ply, first_rows.numpy())
    return first._replace(are_won=np.bincount(inverse.numpy()[ply.are_won], minlength=len(first.position)) > 0)


def _rows_of(ply: PlyPositions, rows: Words | slice) -> PlyPositions:
    fields: Any = (field[rows] for field in ply)
    return PlyPositions(*fields)


def _to_action(judged: Judged, last: int) -> Judged:
    """The actions up to this one, and the positions up to the position of this action."""
    edges: Any = (field[: last + 1] for field in judged[1:])
    return Judged(judged.solved[: judged.rows[last] + 1], *edges)


def _mistakes(judged: Judged) -> tuple[int, int, int]:
    """The number of positions in which a win is given away, a draw is given away, and a loss is hastened."""
    rows, worth = judged.rows[judged.are_mistakes], judged.worth[judged.are_mistakes]
    wins, draws, losses = (len(np.unique(rows[kind])) for kind in (worth > 0, worth == 0, worth < 0))
    return wins, draws, losses
