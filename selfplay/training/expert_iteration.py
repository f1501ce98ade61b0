"""Expert iteration: tables learn from a search which actions are good in the positions that they lead to.

The tables, which look one ply ahead, play matches against themselves and against another player, both of which explore.
After each round of matches the search judges their actions, and comparison training corrects those that it finds poor.
So the positions are those that the tables reach, and their mistakes there are the next lessons (expert iteration:
Anthony, Tian & Barber, "Thinking fast and slow with deep learning and tree search", 2017; learning in the positions
that the learner reaches: Ross, Gordon & Bagnell, "A reduction of imitation learning and structured prediction to
no-regret online learning", 2011).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import NamedTuple

import numba
import numpy as np
import torch
from torch import Tensor

from selfplay.architectures.ntuple import NTuple
from selfplay.checks import check_parameters
from selfplay.compute.compilation import Words
from selfplay.compute.random_numbers import Activity, Draws, Purpose, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game, State
from selfplay.matches.arena import play_batch
from selfplay.players.agent import Agent
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.training.lessons import Apprentice, Lessons, SearchJudge
from selfplay.training.parameters import ExpertIteration

BATCH_MATCHES = 256
"""Matches that a thread plays at a time."""


class Taught(NamedTuple):
    """What tables have learned from a search, besides the weights themselves."""

    lessons: Lessons
    """Those of before, and the new ones."""
    positions: int
    """Number of new positions."""
    new_mistakes: float
    """The share of them in which the action of the tables was poor when they came upon them."""
    mistakes: float
    """The share of all positions in which it is poor now."""


def learn_from_expert(
    agent: Agent,
    make_expert: Callable[[], SearchPlayer],
    matches: int,
    parameters: ExpertIteration,
    *,
    make_opponent: Callable[[], Player] | None = None,
    lessons: Lessons | None = None,
    seed: int = 0,
    level: int = 1,
    threads: int | None = None,
    on_round: Callable[[int], object] = lambda _: None,
) -> Taught:
    """Play this number of matches of tables, and learn from a search the order of the actions there.

    Args:
        agent: whose network (`NTuple`) has the tables. Its weights are changed in place.
        make_expert: makes the search; each thread needs its own.
        make_opponent: makes the other player in matches, for each thread; None: the search. If it is an
            `EpsilonGreedyPlayer`, it explores by its own rates.
        lessons: what is known already from the same expert.
        level: the level that learns, from 1.
        threads: None: one for each core. Does not change the result.
        on_round: called with the number of matches of each round that has been learned from.

    Raises SettingError if a parameter is out of range, or the network has no tables.
    """
    check_parameters(parameters, "parameters.")
    game, network = agent.game, agent.network
    if not isinstance(network, NTuple):
        raise SettingError(f"{agent.name}: a search teaches tables of patterns only; set architecture=ntuple")
    threads = threads or numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    experts = [make_expert() for _ in range(threads)]
    opponents: Sequence[Player] = experts if make_opponent is None else [make_opponent() for _ in range(threads)]
    judge = SearchJudge([expert.searcher for expert in experts], experts[0].depth, parameters.tolerance)
    key = stream_key(seed, level, Activity.TRAINING)
    apprentice = Apprentice(game, network, judge, key, passes=parameters.passes, margin=parameters.margin)
    lessons, positions, mistakes = Lessons() if lessons is None else lessons, 0, 0
    for number, round_matches in enumerate(torch.split(torch.arange(matches), parameters.round_matches)):
        # A player copies the weights.
        player = Agent(agent.checkpoint, game, agent.name).player()
        reached = reached_positions(game, player, opponents, round_matches, parameters, key)
        known = len(lessons.own)
        lessons, rows = apprentice.with_positions(lessons, apprentice.distinct(reached))
        is_wrong = apprentice.mistakes(lessons, rows)
        apprentice.judge_all(lessons, rows[is_wrong])
        positions += len(lessons.own) - known
        mistakes += int(is_wrong[rows >= known].sum())
        taught: Words = np.flatnonzero(lessons.poor)
        apprentice.learn(lessons, taught, number)
        on_round(len(round_matches))
    left = apprentice.mistakes(lessons, np.arange(len(lessons.own)))
    return Taught(lessons, positions, mistakes / max(1, positions), float(left.mean()) if len(left) else 0.0)


def reached_positions(
    game: Game, player: Player, opponents: Sequence[Player], matches: Tensor, parameters: ExpertIteration, key: int
) -> State:
    """The positions in which `player` had a choice in these matches (int64[M], their numbers).

    It moves first in matches with even numbers. Its opponents explore: itself, or one of `opponents`, of which each
    thread has one.
    """
    itself = EpsilonGreedyPlayer(game, player, parameters.epsilons)
    free = SimpleQueue[Player]()
    for other in opponents:
        explores = isinstance(other, EpsilonGreedyPlayer)
        free.put(other if explores else EpsilonGreedyPlayer(game, other, parameters.epsilons))

    def choices(opponent: Player, match: Tensor) -> list[State]:
        seats = (match % 2).to(torch.int8)
        record = play_batch(game, (player, opponent), match, seats, key)
        several = (game.legal_action_mask(state).sum(dim=1) > 1 for state in record.states)
        return [
            state.select(((state.current_player == seats) & chooses).nonzero()[:, 0])
            for state, chooses in zip(record.states, several, strict=True)
        ]

    def play(match: Tensor) -> list[State]:
        is_itself = Draws(key, match, 0).uniforms(Purpose.OPPONENT) < parameters.self_share
        other = free.get()
        try:
            return choices(itself, match[is_itself]) + choices(other, match[~is_itself])
        finally:
            free.put(other)

    with ThreadPoolExecutor(len(opponents)) as pool:
        states = [state for found in pool.map(play, torch.split(matches, BATCH_MATCHES)) for state in found]
    return State(*map(torch.cat, zip(*states, strict=True)))
