"""Endgame positions of a large game, in which the value of every action is known, as a test for players.

RUN_DIR/comparison/endgames.csv    a row per action: position,own,opp,to_move,action,value

The positions come from matches between average players that explore, one position from each match. In games that turn
discs their values are points (empty squares count for the winner), in other games results: 1, 0 or -1.
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
from selfplay.files import read_text, written_whole
from selfplay.games.game import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import MatchRecord, State
from selfplay.grading.comparison_schedule import average_player
from selfplay.grading.table_columns import LARGEST_TABLE
from selfplay.matches.arena import play_matches
from selfplay.players.capabilities import policy_of
from selfplay.players.player import Player
from selfplay.players.player_names import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.search.exact_solver import make_exact_solver
from selfplay.search.feature_evaluation import make_evaluation
from selfplay.search.searcher import MAX_DEPTH, Searcher

log = logging.getLogger(__name__)

MAX_EMPTIES = 14
"""Empty squares of the earliest positions; on a small board a third of all squares."""
DIFFERENT_EMPTY = 3
"""Number of different counts of empty squares: 12, 13 and 14."""
MAX_MATCHES_PER_POSITION = 20
"""Largest number of matches per requested position that are played to find the positions."""

ENDGAME_COLUMNS = {
    "position": "number of the position, from 0",
    "own": "the stones of the player to move, as the bits of a 64-bit integer",
    "opp": "the stones of the other player, as the bits of a 64-bit integer",
    "to_move": "0 if the player who moved first is to move, else 1",
    "action": "the action, as it is typed",
    "value": "points (empty squares count for the winner) or, in a game without points, the result: 1, 0 or -1",
}
"""The columns of endgames.csv and their meanings; `_rows` writes all but the last."""
ENDGAMES = "endgames"
"""The section of the manifest that describes the file."""
HEADER = ",".join(ENDGAME_COLUMNS)


class EndgameGrade(NamedTuple):
    """The quality of a player's actions in endgame positions."""

    optimal: float
    """The share of positions in which its action is a best one; a random policy counts by its probabilities."""
    mean_loss: float | None
    """The average number of points that its action gives away; None in a game without points."""


class EndgamePositions(NamedTuple):
    """N positions near the end of a match, in each of which the actions differ in value."""

    state: State
    """N positions."""
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
    """Up to `count` endgame positions in which the choice matters, with the value of every action.

    The values are read from the file at `path` if it holds these positions and has not changed since it was written,
    according to manifest.json beside it. Otherwise the positions are solved and the file is replaced. None if the game
    has no board of squares that fills, or if no positions are found.

    Raises StageError if the file cannot be written.
    """
    if game.num_squares is None or count == 0:
        return None
    # Where stones are moved and not placed, few squares are empty at the start already.
    if int(empty_squares(game, game.init())) <= game.num_squares // 3:
        return None
    state = find_endgame_positions(game, count, stream_key(seed, 0, Activity.LATE_POSITIONS))
    if state.batch_size == 0:
        return None
    rows = _rows(game, state)
    manifest, record = Manifest(path.parent), {"game": game.name, "endgames": count, "seed": seed}
    lines = []
    if manifest.is_done(ENDGAMES, record, force=True):
        lines = [line.rpartition(",") for line in read_text(path, LARGEST_TABLE).splitlines()[1:]]
    # An older version of the program may have found other positions.
    if [row for row, _, _ in lines] == rows:
        values = [int(value) for _, _, value in lines]
    else:
        manifest.forget(ENDGAMES)
        values = _solve(game, state, progress)
        with written_whole(path) as beside:
            solved = [f"{row},{value}" for row, value in zip(rows, values, strict=True)]
            beside.write_text("\n".join([HEADER, *solved]) + "\n", encoding="ascii")
        manifest.record(ENDGAMES, record, {"positions": state.batch_size}, [path.name])
        log.info("wrote %s", path)
    table = np.full((state.batch_size, game.num_distinct_actions), np.nan)
    table[tuple(game.legal_action_mask(state).nonzero(as_tuple=True))] = values
    matters = np.nanmin(table, axis=1) < np.nanmax(table, axis=1)
    if not matters.any():
        return None
    state = state.select(torch.from_numpy(matters))
    empty = empty_squares(game, state)
    return EndgamePositions(state, table[matters], (int(empty.min()), int(empty.max())), game.rules.margin is not None)


def empty_squares(game: Game, state: State) -> Tensor:
    """int64[B]: the empty squares of each position of a game with boards."""
    return (game.squares(state) == 0).sum(dim=1)


# ---------------------------------------------------------------------- finding


def find_endgame_positions(game: Game, count: int, key: int) -> State:
    """At most `count` different positions from matches of an average player, in the order of the matches.

    Each match gives the first position with a choice in which the number of empty squares is the one that follows from
    the number of the match. `key`: the stream of random numbers of the matches.
    """
    player = make_player(average_player(game), game, "")
    found: list[State] = []
    for start in range(0, MAX_MATCHES_PER_POSITION * count, count):
        records = play_matches(game, (player, player), range(start, start + count), key, learn=False)
        found += [_endgame_in(game, record) for record in records]
        together = State(*(torch.cat(fields) for fields in zip(*found, strict=True)))
        distinct = together.select(distinct_positions(together)[0])
        if distinct.batch_size >= count:
            break
    return distinct.select(torch.arange(min(count, distinct.batch_size)))


def _endgame_in(game: Game, record: MatchRecord) -> State:
    assert game.num_squares is not None, "only called for games with boards"
    wanted = min(MAX_EMPTIES, game.num_squares // 3) - record.match % DIFFERENT_EMPTY
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
    """A function from the position of one match to the exact values of its legal actions, in ascending order."""
    if game.exact_solver is not None:
        solver = make_exact_solver(game)
        as_counted = (lambda value: value) if solver.counts_points else _sign
        return lambda state: [as_counted(value) for value in solver.action_values(state).values()]
    searcher = Searcher(game, make_evaluation("none", game), table_bits=20)

    def solve(state: State) -> list[int]:
        values = searcher.action_values(state, min(game.max_game_length, MAX_DEPTH))[0]
        return [round(value) for value in values[~values.isnan()].tolist()]

    return solve


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


# ---------------------------------------------------------------------- the file


def _rows(game: Game, state: State) -> list[str]:
    """A row of the file for each legal action, without its value."""
    words = list(zip(state.own.tolist(), state.opp.tolist(), state.current_player.tolist(), strict=True))
    legal = game.legal_action_mask(state).nonzero().tolist()
    return [f"{row},{','.join(map(str, words[row]))},{game.action_to_string(action)}" for row, action in legal]
