"""Positions solved exactly in a game whose solver reaches the start, as a test for players.

The positions have groups by stage and difficulty, as in the test sets of Pons (blog.gamesolver.org). The stage is the
number of stones on the board, the difficulty the number of plies to the end of best play. Each is divided into thirds
of the number of squares, 14 in Connect Four:

    stones              0-14 begin    15-28 middle    29-42 end
    plies to the end    0-14 easy     15-28 medium    29-42 hard

They are drawn from matches between average players that explore. Match m is played for group m % 6. A position of the
match suits the group if it has the right number of stones, and the match lasted the right number of plies from there.
One of the suitable positions is drawn at random. The solver then decides to which group it belongs. It is not kept if
the player to move is lost, if all actions lead to the same result, if it has been drawn before, or if its group is
full.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import torch

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.random_numbers import Activity, Draws, Purpose, below, stream_key
from selfplay.games.state import MatchRecord, State
from selfplay.grading.comparison_schedule import average_player
from selfplay.grading.solved_positions import SolvedPosition, SolvedPositions, kept_positions
from selfplay.matches.arena import play_matches
from selfplay.players.player_names import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import ExactSolver

STAGES = ("begin", "middle", "end")
DIFFICULTIES = ("easy", "medium", "hard")

GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
"""All groups that can exist where each ply fills a square, the easiest first."""


def judged_positions(
    solver: ExactSolver, count: int, seed: int, path: Path, progress: ProgressBar = NoProgress
) -> SolvedPositions | None:
    """Up to `count` positions of each group of the solver's game, kept in the file at `path`; None if there are none.

    Raises StageError if the file cannot be written.
    """
    game, key = solver.game, stream_key(seed, 0, Activity.JUDGED_POSITIONS)
    record = {"game": game.name, "judged": count, "seed": seed, "player": average_player(game)}
    solved = kept_positions(
        game, path, "judged_positions", record, lambda: sample_positions(solver, count, key, progress)
    )
    return SolvedPositions.of(game, solved) if solved else None


# ---------------------------------------------------------------------- drawing


def group_of(stones: int, plies_to_end: int, squares: int) -> str:
    """The name of the group of a position, such as "begin-easy"."""
    return f"{STAGES[_third(stones, squares)]}-{DIFFICULTIES[_third(plies_to_end, squares)]}"


def _third(number: int, squares: int) -> int:
    return min(2, max(0, number - 1) // (squares // 3))


MAX_MATCHES_PER_POSITION = 100
"""Largest number of matches per requested position that are played to find the positions."""
MATCHES_AT_ONCE = 600


def sample_positions(
    solver: ExactSolver, count: int, key: int, progress: ProgressBar = NoProgress
) -> list[SolvedPosition]:
    """Up to `count` positions of each group, in the order of GROUPS."""
    game, found, drawn = solver.game, {group: list[SolvedPosition]() for group in GROUPS}, set[tuple[int, int]]()
    players = (make_player(average_player(game), game, ""),) * 2
    matches = range(MAX_MATCHES_PER_POSITION * count * len(GROUPS))
    with closing(progress(total=count * len(GROUPS), desc="solving positions")) as bar:
        for record in play_matches(game, players, matches, key, learn=False, batch_size=MATCHES_AT_ONCE):
            stones = _stones_by_ply(record)
            for row, match in enumerate(record.match.tolist()):
                missing = [group for group in GROUPS if len(found[group]) < count]
                wanted = GROUPS[match % len(GROUPS)]
                if not missing:
                    return [position for group in GROUPS for position in found[group]]
                plies = _plies_of(solver, stones[row], wanted) if wanted in missing else []
                if not plies:
                    continue
                bits = Draws(key, record.match[row : row + 1], 0).bits(Purpose.POSITION)
                state = record.states[plies[int(below(bits, len(plies)))]].select(torch.tensor([row]))
                bitboards = int(state.own), int(state.opp)
                if bitboards not in drawn and (position := _judged(solver, state, missing)) is not None:
                    found[position.group].append(position)
                    bar.update(1)
                drawn.add(bitboards)
    return [position for group in GROUPS for position in found[group]]


def _plies_of(solver: ExactSolver, stones: Sequence[int], group: str) -> list[int]:
    """The plies of a match whose positions may belong to the group. `stones`: before each of its plies."""
    left = range(len(stones), 0, -1)
    groups = [group_of(number, plies, _squares(solver)) for number, plies in zip(stones, left, strict=True)]
    return [ply for ply, found in enumerate(groups) if found == group]


def _judged(solver: ExactSolver, state: State, missing: Sequence[str]) -> SolvedPosition | None:
    """The position with its values; None if it is not of one of the missing groups, or the choice does not matter."""
    value, stones = solver.value(state), (int(state.own) | int(state.opp)).bit_count()
    group = group_of(stones, solver.plies_to_end(value, state), _squares(solver))
    if value < 0 or group not in missing:
        return None
    values = solver.action_values(state)
    # The best action wins or draws, and another one has a worse result.
    worst, best = (np.sign(choose(values.values())) for choose in (min, max))
    return SolvedPosition(state, values, group) if worst < best else None


def _squares(solver: ExactSolver) -> int:
    assert solver.game.num_squares is not None, "games with exact solvers have boards"
    return solver.game.num_squares


def _stones_by_ply(record: MatchRecord) -> list[list[int]]:
    """The number of stones before each ply of each match."""
    counts = torch.stack([bit_count(state.own | state.opp) for state in record.states], dim=1)
    lengths = torch.stack([~state.terminated for state in record.states]).sum(dim=0).tolist()
    return [row[:length] for row, length in zip(counts.tolist(), lengths, strict=True)]
