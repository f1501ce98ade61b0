"""Random matches of `check_game`, played with the compiled rules: few for its checks, and thousands for rare faults."""

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from selfplay.compute.positions import position_at
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games.game import Game
from selfplay.games.single_positions import expect, legal_numbers, observed_singly, played_singly, positions_in
from selfplay.games.state import State
from selfplay.games.win_draw_loss import WinDrawLoss

MATCHES = 64
"""Number of matches of the checks that look at every ply."""
AT_ONCE = 1024
MOST_MATCHES, MOST_PLIES = 8 * AT_ONCE, 600_000
"""Number of the further matches, and of plies of all of them, after which no more are begun."""
PLIES_COMPARED = 500
"""About how many of these plies are also played uncompiled, which is slow."""

NO_ACTION = "no action is legal in a match at ply {ply}, and is_terminal does not say that it is over"
NUMBERS = (
    "in compiled code numbers have 64 bits, so that a variable that is a number loses what is shifted beyond: shift a "
    "constant, as in 1 << action, or a word"
)


class Transition(NamedTuple):
    """One ply of all random matches."""

    state: State
    action: Tensor
    """int64[B]: legal actions; arbitrary where the match is over."""
    following: State


class Played(NamedTuple):
    """The random matches of a check."""

    matches: int
    plies: int
    """Number of plies of these matches."""
    compared: int
    """Number of the plies that were also played uncompiled."""
    results: WinDrawLoss[int]
    """Of the player who moves first."""


def random_plies(game: Game) -> list[Transition]:
    """The plies of random matches, at most `max_game_length`."""
    matches, state, plies = torch.arange(MATCHES), game.init(MATCHES), list[Transition]()
    while len(plies) < game.max_game_length and not bool(state.terminated.all()):
        plies.append(_random_ply(game, state, matches, len(plies)))
        state = plies[-1].following
    return plies


def _random_ply(game: Game, state: State, matches: Tensor, ply: int) -> Transition:
    action = game.kernels.random_actions(state, Draws(stream_key(0, 0, Activity.GENERATION), matches, ply))
    exists = (action >= 0) & (action < game.num_distinct_actions)
    for row in (~exists & ~state.terminated).nonzero()[:1, 0].tolist():
        (position,) = positions_in(game, state, [row])
        expect(bool(legal_numbers(game, position)), NO_ACTION.format(ply=ply), game.rules.legal_actions)
        expect(False, f"compiled legal_actions give the action {int(action[row])}; {NUMBERS}", game.rules.legal_actions)
    return Transition(state, action, game.kernels.step(state, action))


def check_many_matches(game: Game) -> Played:
    """Thousands of further random matches can be played to their ends; a sample of their plies is also played
    uncompiled, with the same results."""
    random, matches, plies, compared, returns = Random(0), 0, 0, 0, Counter[float]()
    each = max(1, PLIES_COMPARED * AT_ONCE // (MOST_MATCHES * game.max_game_length))
    while matches < MOST_MATCHES and plies < MOST_PLIES:
        numbers, state = torch.arange(AT_ONCE) + MATCHES + matches, game.init(AT_ONCE)
        for ply in range(game.max_game_length):
            running = (~state.terminated).nonzero()[:, 0].tolist()
            if not running:
                break
            transition = _random_ply(game, state, numbers, ply)
            rows = random.sample(running, min(each, len(running)))
            compare_singly(game, transition, rows, ply)
            plies, compared, state = plies + len(running), compared + len(rows), transition.following
        check_length(game, bool(state.terminated.all()))
        returns.update(state.returns.tolist())
        expect(set(returns) <= {-1.0, 0.0, 1.0}, f"a return is not -1, 0 or 1, but one of {sorted(returns)}")
        matches += AT_ONCE
    return Played(matches, plies, compared, WinDrawLoss(returns[1.0], returns[0.0], returns[-1.0]))


def compare_singly(game: Game, transition: Transition, rows: Iterable[int], ply: int) -> None:
    """Compiled rules, and rules that are called with single positions, give the same in these matches, none of which is
    over."""
    chosen = torch.tensor(list(rows), dtype=torch.int64)
    state, following, actions = transition.state.select(chosen), transition.following.select(chosen), transition.action
    mask, observe = game.kernels.legal_action_mask(state, game.num_distinct_actions), game.kernels.observe
    shown = None if observe is None else observe(following.position.numpy())
    for row, (position, after) in enumerate(zip(game.positions(state), game.positions(following), strict=True)):
        number, legal = int(actions[chosen[row]]), mask[row].nonzero()[:, 0].tolist()
        _agree(f"legal actions at ply {ply}", legal, legal_numbers(game, position))
        played, over = played_singly(game, position, number)
        _agree(f"the position after action {number} at ply {ply}", after, played)
        _agree(f"is_terminal after ply {ply}", bool(following.terminated[row]), over)
        if shown is not None:
            seen = position_at(game.rules.shown, shown, row)
            _agree(f"the observation after ply {ply}", seen, observed_singly(game, after))


def _agree(what: str, compiled: Any, uncompiled: Any) -> None:
    expect(compiled == uncompiled, f"{what}: compiled rules give {compiled}, uncompiled rules {uncompiled}; {NUMBERS}")


def check_length(game: Game, have_ended: bool) -> None:
    expect(have_ended, f"a match is longer than max_game_length={game.max_game_length}")
