"""Expert iteration: tables learn from a search which actions are good in the positions that they lead to.

The tables, which look one ply ahead, play matches against themselves, and walk lines on which good actions answer
theirs. The search judges their actions there, and comparison training corrects poor ones (`corrections`). So the
positions are those that the tables reach, and their mistakes there are the next lessons (expert iteration: Anthony,
Tian & Barber, "Thinking fast and slow with deep learning and tree search", 2017; learning in the positions that the
learner reaches: Ross, Gordon & Bagnell, "A reduction of imitation learning and structured prediction to no-regret
online learning", 2011).

A walk corrects one ply after another, so on it each ply needs weights of its own, which are many.
"""

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from selfplay.agents.agent import Agent
from selfplay.architectures.ntuple import NTuple, with_phases
from selfplay.checks import check_parameters
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game, State
from selfplay.games.game import SEATS
from selfplay.matches.arena import play_batch
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.search.exact_solver import empties
from selfplay.search.searcher import Searcher
from selfplay.training.corrections import Corrections, LikelyReplies
from selfplay.training.lesson_training import RowNumbers
from selfplay.training.lessons import Apprentice, Lessons, SearchExpert
from selfplay.training.parameters import ExpertIteration

BATCH_MATCHES = 256
"""Matches that a thread plays at a time."""

MOST_TRAININGS_BY_SEARCH = 10
"""The largest number of trainings for one ply, and for all together. The search judges positions one by one, so
judgements can contradict each other, and mistakes may be left."""


class Taught(NamedTuple):
    """What tables have learned from a search."""

    network: NTuple
    """The tables with their new weights."""
    architecture: dict[str, Any]
    """That of the tables, as in the metadata of a checkpoint."""
    lessons: Lessons
    """Those of before, and the new ones."""
    positions: int
    """Number of positions, those of matches and those of the walks, in which they had a choice."""
    new_mistakes: float
    """The share of them in which the action of the tables was poor when they came upon them."""
    mistakes: float
    """The share of all positions of the lessons in which it is poor now."""


def learn_from_expert(
    agent: Agent,
    searchers: Sequence[Searcher],
    depth: int,
    matches: int,
    parameters: ExpertIteration,
    *,
    lessons: Lessons | None = None,
    seed: int = 0,
    level: int = 1,
    on_step: Callable[[int], object] = lambda _: None,
) -> Taught:
    """Play this number of matches of tables, walk lines in each seat, and learn from a search the order of the actions.

    Args:
        agent: whose network (`NTuple`) has the tables. Its weights are not changed.
        searchers: the search, for each thread. Their number does not change the result.
        depth: how many plies the search looks ahead, 2 or more.
        lessons: what is known already from the same search.
        level: the level that learns, from 1.
        on_step: called with 1 for each ply of the tables in a walk, and for each training of all plies together; a true
            result ends the walks, or the training.

    Raises SettingError if a parameter is out of range, or the network has no tables.
    """
    check_parameters(parameters, "parameters.")
    game, architecture = agent.game, agent.checkpoint.metadata["architecture"]
    if not isinstance(agent.network, NTuple):
        raise SettingError(f"{agent.name}: a search teaches tables of patterns only; set architecture=ntuple")
    network, extended = with_phases(agent.network, architecture)
    expert, key = SearchExpert(searchers, depth, parameters.tolerance), stream_key(seed, level, Activity.TRAINING)
    apprentice = Apprentice(game, network, expert, key, passes=parameters.passes, margin=parameters.margin)
    by_ply = _lessons_by_ply(apprentice, Lessons() if lessons is None else lessons)
    walker = Agent(agent.checkpoint._replace(network=network), game, agent.name)
    reached = reached_positions(walker, torch.arange(matches), parameters.epsilons, key, expert.threads)
    by_ply, in_matches = _with_mistakes_in(apprentice, reached, by_ply)
    for ply, known in by_ply.items():
        apprentice.learn(known, np.flatnonzero(known.poor), ply)
    by_ply, in_walks = _with_walks(game, network, expert, key, parameters, by_ply, on_step)
    together = Lessons(*map(np.concatenate, zip(*(by_ply[ply] for ply in sorted(by_ply)), strict=True)))
    if not parameters.weights_by_ply:
        network, extended = copy.deepcopy(agent.network), architecture
        apprentice = Apprentice(game, network, expert, key, passes=parameters.passes, margin=parameters.margin)
        learn_together(apprentice, together, on_step)
    left = float(apprentice.mistakes(together, np.arange(len(together.position))).mean())
    positions, mistakes = in_matches.positions + in_walks.positions, in_matches.mistakes + in_walks.mistakes
    return Taught(network, extended, together, positions, mistakes / positions, left)


class _Met(NamedTuple):
    """Positions with a choice that tables have met, and in how many of them their action was poor then."""

    positions: int
    mistakes: int


def _with_mistakes_in(
    apprentice: Apprentice, reached: State, by_ply: dict[int, Lessons]
) -> tuple[dict[int, Lessons], _Met]:
    """The lessons of each ply with those of the positions in which the tables make mistakes."""
    by_ply, positions, mistakes = dict(by_ply), 0, 0
    distinct, _ = apprentice.distinct(reached)
    for ply, of_ply in _rows_by_ply(apprentice.game, distinct).items():
        known, rows = apprentice.with_positions(by_ply.get(ply, Lessons()), distinct.select(torch.from_numpy(of_ply)))
        is_wrong = apprentice.mistakes(known, rows)
        apprentice.judge_all(known, rows[is_wrong])
        positions, mistakes, by_ply[ply] = positions + len(rows), mistakes + int(is_wrong.sum()), known
    return by_ply, _Met(positions, mistakes)


def _with_walks(
    game: Game,
    network: NTuple,
    expert: SearchExpert,
    key: int,
    parameters: ExpertIteration,
    by_ply: dict[int, Lessons],
    on_step: Callable[[int], object],
) -> tuple[dict[int, Lessons], _Met]:
    """The lessons of each ply with those of the walks in each seat, in which the tables learn too."""
    positions, mistakes, replies = 0, 0, LikelyReplies(expert, key, parameters)
    for seat in SEATS if parameters.seat == "both" else (parameters.seat,):
        walk = Corrections(
            game,
            network,
            expert,
            game.init(),
            key,
            seat=seat,
            replies=replies,
            taught=by_ply,
            trainings=MOST_TRAININGS_BY_SEARCH,
            passes=parameters.passes,
            margin=parameters.margin,
        )
        for corrected in walk.plies():
            positions, mistakes = positions + corrected.positions, mistakes + corrected.mistakes[0]
            if on_step(1):
                return walk.lessons, _Met(positions, mistakes)
        by_ply = walk.lessons
    return by_ply, _Met(positions, mistakes)


def learn_together(apprentice: Apprentice, lessons: Lessons, on_step: Callable[[int], object]) -> None:
    """Train one set of tables on all lessons until no mistake is left, or MOST_TRAININGS_BY_SEARCH times."""
    everything = np.arange(len(lessons.position))
    for training in range(MOST_TRAININGS_BY_SEARCH):
        apprentice.learn(lessons, np.flatnonzero(lessons.poor), apprentice.game.max_game_length + training)
        is_wrong = apprentice.mistakes(lessons, everything)
        apprentice.judge_all(lessons, everything[is_wrong])
        if on_step(1) or not is_wrong.any():
            break


def reached_positions(agent: Agent, matches: Tensor, epsilons: Sequence[float], key: int, threads: int) -> State:
    """The positions with a choice in these matches (int64[M], their numbers) of an agent that explores, with itself."""
    game, player = agent.game, Agent(agent.checkpoint, agent.game, agent.name).player()  # a copy of the weights
    explorer = EpsilonGreedyPlayer(game, player, epsilons)

    def play(match: Tensor) -> list[State]:
        record = play_batch(game, (explorer, explorer), match, torch.zeros_like(match, dtype=torch.int8), key)
        several = (game.legal_action_mask(state).sum(dim=1) > 1 for state in record.states)
        return [
            state.select((chooses & ~state.terminated).nonzero()[:, 0])
            for state, chooses in zip(record.states, several, strict=True)
        ]

    with ThreadPoolExecutor(threads) as pool:
        states = [state for found in pool.map(play, torch.split(matches, BATCH_MATCHES)) for state in found]
    return State(*map(torch.cat, zip(*states, strict=True)))


def _lessons_by_ply(apprentice: Apprentice, lessons: Lessons) -> dict[int, Lessons]:
    by_ply = _rows_by_ply(apprentice.game, apprentice.state(lessons.position))
    return {ply: Lessons(*(field[rows] for field in lessons)) for ply, rows in by_ply.items()}


def _rows_by_ply(game: Game, state: State) -> dict[int, RowNumbers]:
    """The rows of the positions of each ply, which is the number of stones that were added to the start."""
    plies = (empties(game, game.init()) - empties(game, state)).numpy()
    return {int(ply): np.flatnonzero(plies == ply) for ply in np.unique(plies)}
