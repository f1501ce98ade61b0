"""Temporal-difference learning of tables of patterns, match by match, with a step size for each weight.

Matches are played in rounds. The weights do not change while the matches of a round are played, so these can be shared
out among threads. Then an exact solver may find the values of late afterstates. At the end of the round each row of
weights learns from its afterstates in their order, in a thread of its own. So the number of
threads does not change the result.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.checks import check_parameters
from selfplay.compute.bit_algebra import bit_count_of_64
from selfplay.compute.compilation import compiled
from selfplay.compute.elementary import exponential, power, tangent
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.outcomes import Outcome, match_return
from selfplay.games.pattern_planes import check_two_boards, seeing
from selfplay.games.pattern_sums import images_of_squares, sum_of_weights, weight_index
from selfplay.games.patterns import TrainableTables, row_of_weights, write_entries
from selfplay.players.player import Player
from selfplay.search.exact_outcomes import exact_outcomes
from selfplay.search.exact_solver import ExactSolver, make_exact_solver
from selfplay.training.epochs import LOSS_DECIMALS
from selfplay.training.parameters import StepSizes
from selfplay.training.searched_matches import play_searched
from selfplay.training.td_matches import (
    Afterstates,
    MatchParameters,
    MatchScratch,
    SelfPlay,
    compile_self_play,
    new_scratch,
    no_afterstates,
    seen_from,
    write_lambda_returns,
)

RATES = 1024
"""Step sizes are computed for this many steps of the coherence."""

NO_CHANGES = 1e-20
"""The sums of changes of a weight that has not changed: equal, so that the coherence is 1, and too small to matter
later."""

TABLE_BITS = 16
"""Size of the table of each thread's exact solver. Small ones stay in the processor's cache."""

MATCHES_PER_SAMPLE = 1024
"""How often the weights enter their mean: adding them takes as long as some ten matches."""


MEAN_SQUARED_ERROR = "mean_squared_error"
"""Of the values of afterstates, each before its step."""


def step_sizes(parameters: StepSizes, level: int = 1) -> NDArray[np.float32]:
    """float32[RATES + 1]: the step size for each coherence c = |sum of changes| / sum of |changes|, from 0 to 1.

    Temporal coherence (Beal & Smith, "Temporal coherence and prediction decay in TD learning", 1999) with the
    exponential transfer step_size * exp(sharpness * (c - 1)) (Bagheri, Thill, Koch & Konen, "Online adaptable learning
    rates for the game Connect-4", 2014).
    """
    largest = parameters.step_size * power(parameters.level_decay, level - 1)
    shares = [exponential(parameters.sharpness * (number / RATES - 1)) for number in range(RATES + 1)]
    return (largest * np.array(shares)).astype(np.float32)


def unchanged(tables: TrainableTables) -> NDArray[np.float32]:
    """`changes` of weights that have not been trained."""
    return np.full((*tables.weights.shape, 2), NO_CHANGES, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class TrainingMatches:
    """The matches that tables learn from: their number, how they are played, and what their afterstates are worth."""

    number: int
    gamma: float = 1.0
    """The discount in [0, 1] for each further move of the same player."""
    epsilons: Sequence[float] = (0.1,)
    """The exploration rate of each ply; the last one is used for all later plies."""
    outcome: Outcome = match_return
    exact_from: int | None = None
    """Afterstates with at most this number of empty squares have their exact values; None: outcomes alone."""
    opening_plies: int = 0
    """Matches begin with 0 to this number of random plies; what came before the last one is not learned from."""
    make_player: Callable[[], Player] | None = None
    """Makes the player of the matches of a round, one for each thread, with the present weights. Its `searched` gives
    values, and it has its own exploration and random plies (`selfplay.players.exploring`). None: the tables play, one
    ply ahead."""
    seed: int = 0
    level: int = 1
    """The level that learns, from 1; step sizes may decay from level to level."""


class Learned(NamedTuple):
    """What `td_learn` has learned, besides the weights themselves."""

    error: float
    """Mean squared error of the values, each before its step."""
    afterstates: int
    """Number of afterstates."""
    mean: NDArray[np.float32]
    """float32[rows, W]: the mean of the weights (Polyak & Juditsky, "Acceleration of stochastic approximation by
    averaging", 1992)."""


def td_learn(
    game: Game,
    tables: TrainableTables,
    matches: TrainingMatches,
    parameters: StepSizes,
    *,
    changes: NDArray[np.float32] | None = None,
    threads: int | None = None,
    on_round: Callable[[int, Mapping[str, float]], object] = lambda *_: None,
) -> Learned:
    """Play matches of tables against themselves, and learn from them.

    Args:
        tables: of a network (`trainable_tables()`), whose `weights` are changed in place.
        changes: float32[rows, W, 2]: for each weight the sum of the changes recommended so far, and the sum of their
            absolute values; changed in place. None: those of `unchanged`.
        threads: None: one for each core. Does not change the result.
        on_round: called with the number of matches of each round that has been learned from, and the mean squared error
            so far; a true result ends the training.

    Raises SettingError if a parameter is out of range, or as `seeing` and, for exact values, `check_two_boards`.

    Examples:
        >>> network = initial_network(game, {"name": "ntuple"})
        >>> matches = TrainingMatches(number=10_000)
        >>> learned = td_learn(game, network.trainable_tables(), matches, StepSizes(step_size=0.02))
    """
    check_parameters(parameters, "parameters.")
    changes = unchanged(tables) if changes is None else changes
    threads = threads or numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    play = _playing(game, tables, matches, parameters, threads)
    rates = step_sizes(parameters, matches.level)
    played = no_afterstates(parameters.round_matches, game.max_game_length)
    errors = np.zeros(played.targets.shape)
    error, afterstates, averaged, mean = 0.0, 0, 0, np.zeros_like(tables.weights)
    plies, learning = np.arange(game.max_game_length), without_needless_numbers(tables)
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, matches.number, parameters.round_matches):
            number = min(parameters.round_matches, matches.number - first)
            play(pool, first, number, played)
            of_row = partial(learn_row, number, played, learning, changes, rates, errors)
            # Making the list waits for all threads, and raises their errors.
            list(pool.map(of_row, range(len(tables.weights))))
            learned = (plies >= played.first[:number, None]) & (plies < played.plies[:number, None])
            error += float(errors[:number][learned].sum())
            afterstates += int(learned.sum())
            end, measured = first + number, {MEAN_SQUARED_ERROR: round(error / max(1, afterstates), LOSS_DECIMALS)}
            is_last = bool(on_round(number, measured)) or end == matches.number
            if is_last or end // MATCHES_PER_SAMPLE > first // MATCHES_PER_SAMPLE:
                averaged += 1
                mean += (tables.weights - mean) / np.float32(averaged)
            if is_last:
                break
    return Learned(error / max(1, afterstates), afterstates, mean)


def _playing(
    game: Game, tables: TrainableTables, matches: TrainingMatches, parameters: StepSizes, threads: int
) -> Callable[[ThreadPoolExecutor, int, int, Afterstates], None]:
    """A function of (pool, first, number, played) that plays a round of matches, and writes their targets."""
    if matches.exact_from is not None:
        check_two_boards(game)
    how = MatchParameters(
        stream_key(matches.seed, matches.level, Activity.TRAINING),
        np.array(matches.epsilons, dtype=float),
        np.array(matches.outcome(game)),
        matches.opening_plies,
    )
    make_player, exact_from, images = matches.make_player, matches.exact_from, images_of_squares(tables)
    play = compile_self_play(game.rules, game.pass_action, seeing(game, tables.planes))
    scratches = [new_scratch(len(tables.offsets)) for _ in range(threads)]
    solvers = [None if exact_from is None else make_exact_solver(game, TABLE_BITS) for _ in range(threads)]
    read = without_needless_numbers(tables)

    def play_part(
        first: int,
        played: Afterstates,
        part: tuple[int, int],
        player: Player | None,
        scratch: MatchScratch,
        solver: ExactSolver | None,
    ) -> None:
        if player is None:
            play(first, SelfPlay(how, read, images, scratch), played, *part)
        else:
            play_searched(game, player, how, read.planes, first, played, *part)
        if solver is not None and exact_from is not None:
            write_exact_values(solver, how.finished, exact_from, played, *part)
        write_lambda_returns(played, parameters.trace_decay, math.sqrt(matches.gamma), *part)

    def play_round(pool: ThreadPoolExecutor, first: int, number: int, played: Afterstates) -> None:
        parts = pairwise(number * part // threads for part in range(threads + 1))
        players = [None if make_player is None else make_player() for _ in range(threads)]
        list(pool.map(partial(play_part, first, played), parts, players, scratches, solvers))

    return play_round


def without_needless_numbers(tables: TrainableTables) -> TrainableTables:
    """The tables with an empty `weight_of_entry` if no entries share weights: see `weight_index`."""
    numbers = tables.weight_of_entry
    return tables._replace(weight_of_entry=numbers[:0]) if tables.weights.shape[1] == len(numbers) else tables


def write_exact_values(
    solver: ExactSolver, outcome: NDArray[np.float64], exact_from: int, played: Afterstates, begin: int, end: int
) -> None:
    """Replace the values of late afterstates of the matches in rows `begin` to `end - 1` by their exact values.

    Args:
        outcome: float64[2], see `selfplay.games.outcomes.Outcome`.
        exact_from: the largest number of empty squares in these afterstates.
    """
    positions, guesses = played.positions[begin:end], np.zeros(end - begin, dtype=np.int64)
    few = bit_count_of_64(positions[:, :, 0] | positions[:, :, 1]) >= (solver.game.num_squares or 0) - exact_from
    is_late = few & (np.arange(positions.shape[1]) < played.plies[begin:end, np.newaxis])
    start = solver.game.init()
    # The last plies first: their values, which the table keeps, help to solve the earlier ones.
    for ply in reversed(np.flatnonzero(is_late.any(axis=0))):
        rows = np.flatnonzero(is_late[:, ply])
        # No match is over here, so there is no need to let `state_at` check it.
        state = start.select(torch.zeros(len(rows), dtype=torch.int64))
        state = state._replace(position=torch.from_numpy(positions[rows, ply, :2]))
        guesses[rows], outcomes = exact_outcomes(solver, state, -guesses[rows], outcome)
        played.values[begin + rows, ply], played.exact[begin + rows] = -outcomes, ply


@compiled
def learn_row(
    matches: int,
    played: Afterstates,
    tables: TrainableTables,
    changes: NDArray[np.float32],
    rates: NDArray[np.float32],
    errors: NDArray[np.float64],
    row: int,
) -> None:
    """Take a step towards the target of each afterstate with this row of weights in the first `matches` matches, in
    order.

    Args:
        tables, changes: as for `td_learn`; those of the row are changed.
        rates: float32[RATES + 1], as from `step_sizes`.
        errors: float64[R, M], where the squared error of each afterstate, before its step, is written.
    """
    offsets, weight_of_entry, weights, sums = tables.offsets, tables.weight_of_entry, tables.weights[row], changes[row]
    entries, current = np.empty(len(offsets), dtype=np.int32), np.empty(len(offsets), dtype=np.float32)
    for match in range(matches):
        for ply in range(played.first[match], played.plies[match]):
            seen = seen_from(played.positions[match, ply])
            if row_of_weights(seen, tables.phases, tables.squares, tables.parities) != row:
                continue
            write_entries(seen, tables.contributions, offsets, entries)
            value = tangent(sum_of_weights(entries, weights, weight_of_entry, current), tables.is_portable)
            error = played.targets[match, ply] - value
            errors[match, ply] = error * error
            change = np.float32(error * (1.0 - value * value))
            size = abs(change)
            for image in range(len(entries)):
                index = weight_index(entries[image], weight_of_entry)
                coherence = abs(sums[index, 0]) / sums[index, 1]
                weights[index] += rates[np.int32(coherence * np.float32(RATES))] * change
                sums[index, 0] += change
                sums[index, 1] += size
