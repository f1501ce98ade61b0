"""Late positions of a large game, in which the value of every action is known, as an examination for players.

RUN_DIR/comparison/endgames.csv    a row an action: position,own,opp,to_move,action,value

The positions come from matches of a passable player that explores, one of each match. Their values are those of
`EndgameSolver` (points, empty squares counted for the winner) where discs are turned, else the result that a search to
the end of the match finds.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.game import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.match_record import MatchRecord
from selfplay.games.state import State
from selfplay.grading.reference_players import passable_player
from selfplay.matches.arena import play_matches
from selfplay.players.capabilities import policy_of
from selfplay.players.player import Player
from selfplay.players.registry import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.written_files import written_whole
from selfplay.search.endgame.solver import EndgameSolver
from selfplay.search.evaluation import make_evaluation
from selfplay.search.searcher import DEEPEST, Searcher

log = logging.getLogger(__name__)

MOST_EMPTY = 14
"""Empty squares of the earliest positions; on a small board a third of all squares."""
KINDS = 3
"""How many numbers of empty squares there are: 12, 13 and 14."""
MOST_ROUNDS = 20
"""So many times as many matches as positions are played to find them."""
HEADER = "position,own,opp,to_move,action,value"


class EndgameGrade(NamedTuple):
    """How a player fares in late positions."""

    optimal: float
    """The share of positions in which its action is a best one; a random policy counts by its probabilities."""
    mean_loss: float | None
    """The points that its action gives away, on average; None in a game without points."""


class EndgamePositions(NamedTuple):
    """N positions near the end of a match, in each of which some action is worse than another."""

    state: State
    """State of N matches."""
    values: NDArray[np.float64]
    """float64[N, A]: the value of each action to the player to move; nan where illegal."""
    empties: tuple[int, int]
    """The fewest and the most empty squares."""
    counts_points: bool
    """Whether values are points; otherwise the results -1, 0 and 1."""

    def grade(self, player: Player) -> EndgameGrade:
        """The grade of `player`, without exploration."""
        losses = np.nanmax(self.values, axis=1, keepdims=True) - self.values
        policy = policy_of(player, self.state).numpy()
        optimal = float((policy * (losses == 0)).sum(axis=1).mean())
        mean_loss = float((policy * np.nan_to_num(losses)).sum(axis=1).mean())
        return EndgameGrade(optimal, mean_loss if self.counts_points else None)


def endgame_positions(
    game: Game, count: int, seed: int, path: Path, progress: ProgressBar = NoProgress
) -> EndgamePositions | None:
    """Those of `count` late positions in which the choice matters, solved unless the file at `path` holds their values.

    All of them are written there. None if positions are no boards of squares, or if there are none. A file that holds
    other positions, or is broken, is made anew. Raises StageError if it cannot be written.
    """
    if game.num_squares is None or count == 0:
        return None
    state = find_endgame_positions(game, count, stream_key(seed, 0, Activity.LATE_POSITIONS))
    if state.batch_size == 0:
        return None
    rows = _rows(game, state)
    values = _read_values(path, rows, game.num_squares)
    if values is None:
        values = _solve(game, state, progress)
        with written_whole(path) as beside:
            lines = [HEADER, *(f"{row},{value}" for row, value in zip(rows, values, strict=True))]
            beside.write_text("\n".join(lines) + "\n", encoding="ascii")
        log.info("wrote %s", path)
    table = np.full((state.batch_size, game.num_distinct_actions), np.nan)
    table[tuple(game.legal_action_mask(state).nonzero(as_tuple=True))] = values
    matters = np.nanmin(table, axis=1) < np.nanmax(table, axis=1)
    if not matters.any():
        return None
    state = state.select(torch.from_numpy(matters))
    empty = empty_squares(game, state)
    return EndgamePositions(state, table[matters], (int(empty.min()), int(empty.max())), game.turning_rules is not None)


def empty_squares(game: Game, state: State) -> Tensor:
    """int64[B]: the empty squares of each position of a game with boards."""
    return (game.squares(state) == 0).sum(dim=1)


# ---------------------------------------------------------------------- finding


def find_endgame_positions(game: Game, count: int, key: int) -> State:
    """At most `count` different positions from matches of a passable player, in the order of the matches.

    Of each match comes the first position with a choice in which so many squares are empty as its number asks for.
    """
    player = make_player(passable_player(game), game, "")
    found: list[State] = []
    for start in range(0, MOST_ROUNDS * count, count):
        records = play_matches(game, (player, player), range(start, start + count), key, learn=False)
        found += [_late_in(game, record) for record in records]
        together = State(*(torch.cat(fields) for fields in zip(*found, strict=True)))
        distinct = together.select(distinct_positions(together)[0])
        if distinct.batch_size >= count:
            break
    return distinct.select(torch.arange(min(count, distinct.batch_size)))


def _late_in(game: Game, record: MatchRecord) -> State:
    assert game.num_squares is not None, "asked only of games with boards"
    wanted = min(MOST_EMPTY, game.num_squares // 3) - record.match % KINDS
    ply = torch.full_like(record.match, -1)
    for number, state in enumerate(record.states):
        has_choice = game.legal_action_mask(state).sum(dim=1) > 1
        ply[(empty_squares(game, state) == wanted) & has_choice & (ply < 0)] = number
    rows = (ply >= 0).nonzero()[:, 0].tolist()
    chosen = [record.states[0].select(torch.tensor([], dtype=torch.int64))]
    chosen += [record.states[int(ply[row])].select(torch.tensor([row])) for row in rows]
    return State(*(torch.cat(fields) for fields in zip(*chosen, strict=True)))


# ---------------------------------------------------------------------- solving


def _solve(game: Game, state: State, progress: ProgressBar) -> list[int]:
    """The value of each legal action of each position, in the order of `_rows`."""
    values: list[int] = []
    bar = progress(total=state.batch_size, desc="solving endgames")
    solve = action_values_to_the_end(game)
    for row in range(state.batch_size):
        values += solve(state.select(torch.tensor([row])))
        bar.update(1)
    bar.close()
    return values


def action_values_to_the_end(game: Game) -> Callable[[State], list[int]]:
    """A function from one match's position to the exact values of its legal actions, in ascending order of these."""
    if game.turning_rules is not None:
        solver = EndgameSolver(game)
        return lambda state: list(solver.action_values(state).values())
    searcher = Searcher(game, make_evaluation("none", game), table_bits=20)

    def solve(state: State) -> list[int]:
        values = searcher.action_values(state, min(game.max_game_length, DEEPEST))[0]
        return [round(value) for value in values[~values.isnan()].tolist()]

    return solve


# ---------------------------------------------------------------------- the file


def _rows(game: Game, state: State) -> list[str]:
    """A row of the file for each legal action, without its value."""
    words = list(zip(state.own.tolist(), state.opp.tolist(), state.current_player.tolist(), strict=True))
    legal = game.legal_action_mask(state).nonzero().tolist()
    return [f"{row},{','.join(map(str, words[row]))},{game.action_to_string(action)}" for row, action in legal]


def _read_values(path: Path, rows: list[str], largest: int) -> list[int] | None:
    """The values of these rows in the file; None if it is not there, or is not a file of these rows."""
    try:
        header, *lines = path.read_text(encoding="ascii").splitlines()
        read = [line.rpartition(",") for line in lines]
        values = [int(value) for _, _, value in read]
    except (OSError, ValueError):
        return None
    is_whole = header == HEADER and [row for row, _, _ in read] == rows and all(abs(v) <= largest for v in values)
    return values if is_whole else None
