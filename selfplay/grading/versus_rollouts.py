"""Whether a learned agent is better than what needs no learning: tree search with random matches, at equal work.

Work is counted and not measured, so the result is the same on every computer. Its unit is a multiplication and an
addition of a network on a CPU; a ply of a random match takes about as long as WORK_OF_PLY of them.
"""

from contextlib import closing
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from selfplay.agents.agent import Agent
from selfplay.compute.compilation import in_plain_python
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.matches.series import PairResult, Series
from selfplay.players.mcts import MctsPlayer, TreeSearchParameters
from selfplay.players.player import RandomPlayer
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator, RolloutEvaluator
from selfplay.search.mcts.mixed_evaluator import MixedEvaluator
from selfplay.search.mcts.tree_search import most_simulations

WORK_OF_PLY = 2500
WORK_OF_MOVE = 100_000_000
"""Of each player for each move: 2 to 10 ms."""
WORK_OF_REPLY = 20 * WORK_OF_MOVE
"""Of the strongest player that is known, when a person waits for a move: 40 to 300 ms."""
FEWEST, MOST = 8, 20_000
"""Simulations for each move of a rating."""
MATCHES, TRIALS, OPENING_PLIES = 40, 24, 4
WORK_OF_RATING = (MATCHES + TRIALS) * 100 * WORK_OF_MOVE
"""Where matches have more than 100 plies, each move is less work, and then fewer matches are played, at least these:"""
FEW_MATCHES, FEW_TRIALS = 10, 8
MARGIN = 1 / 12
"""By how much more than half the other way to value positions must score in the trials, which are so few that it may be
better by chance."""
RANDOM_MATCHES, FEW_RANDOM_MATCHES = 200, 4
"""By which the work of a random match is counted: for a rating, and for a reply, without compiling the rules."""
MOST_OF_MEMORY = 8
"""A reply takes at most the MOST_OF_MEMORY-th part of the memory that a search may take."""


class Mixing(NamedTuple):
    """How the values of a network are mixed with random matches (`MixedEvaluator`)."""

    share: float = 0.0
    """Of random matches; 0: only the network values positions."""
    rollouts: int = 1
    """Random matches for each position."""

    def evaluator(self, agent: Agent) -> BatchEvaluator | CompiledEvaluator:
        """The evaluator of an agent. Raises SettingError if its network is not computed inside compiled searches."""
        return MixedEvaluator(agent.evaluator(), *self) if self.share else agent.evaluator()


UNMIXED = Mixing()


class VersusRollouts(NamedTuple):
    """Matches of a learned agent against tree search with random matches."""

    mixing: Mixing
    """How the agent valued positions."""
    simulations: int
    """Of the agent for each move."""
    rollouts: int
    """Random matches of its opponent for each move."""
    result: PairResult


def work_of_network(agent: Agent) -> int:
    """The multiplications and additions with which the network of an agent evaluates a position."""
    work = 0

    def count(layer: nn.Module, _: object, output: Tensor) -> None:
        nonlocal work
        assert isinstance(layer, nn.Conv2d | nn.Linear)
        places = output[0, 0].numel() if isinstance(layer, nn.Conv2d) else 1
        work += layer.weight.numel() * places

    layers = [layer for layer in agent.network.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
    handles = [layer.register_forward_hook(count) for layer in layers]
    try:
        with torch.no_grad():
            agent.network(torch.zeros(1, *agent.game.observation_shape))
    finally:
        for handle in handles:
            handle.remove()
    return max(1, work)


def plies_of_random_matches(game: Game, matches: int = RANDOM_MATCHES) -> float:
    """The mean number of plies of so many random matches."""
    player, key = RandomPlayer(game), stream_key(0, 0, Activity.MEASUREMENT)
    series = Series(range(matches), key)
    return sum(_plies(record) for record in series.records(game, (player, player))) / matches


def _plies(record: MatchRecord) -> int:
    return sum(int((~state.terminated).sum()) for state in record.states)


def _allowed(game: Game, simulations: int) -> int:
    return max(1, min(MOST, most_simulations(game), max(FEWEST, simulations)))


@lru_cache(maxsize=100)
def about_plies(game: Game) -> float:
    """The mean number of plies of a few random matches."""
    with in_plain_python():
        return plies_of_random_matches(game, FEW_RANDOM_MATCHES)


def rollouts_in_reply(game: Game) -> int:
    """The random matches of a search that are the work of a reply."""
    return allowed_in_reply(game, int(WORK_OF_REPLY / (WORK_OF_PLY * about_plies(game))))


def allowed_in_reply(game: Game, simulations: int) -> int:
    """This number of simulations, rounded to two digits, unless it is too small or its tree too large for a reply."""
    rounded = int(float(f"{simulations:.2g}"))
    return max(1, min(most_simulations(game) // MOST_OF_MEMORY, max(FEWEST, rounded)))


def play_rollouts(
    agent: Agent,
    seed: int,
    mixing: Mixing = UNMIXED,
    progress: ProgressBar = NoProgress,
    *,
    was_unmixed: bool = False,
) -> VersusRollouts:
    """Matches from random openings, both seats, at equal work for each move.

    The agent values positions mixed with random matches, unless its network alone clearly beats that in TRIALS matches.
    If that of the level before did (`was_unmixed`), its network values them alone, unless mixing clearly beats that.
    Other matches count. Where matches are long there are fewer of both, of less work (WORK_OF_RATING).
    """
    game, plies = agent.game, plies_of_random_matches(agent.game)
    work_of_match, moves = WORK_OF_PLY * plies, (MATCHES + TRIALS) * plies
    work_of_move = min(WORK_OF_MOVE, max(WORK_OF_RATING / moves, FEWEST * work_of_match))

    def work_with(mixing: Mixing) -> float:
        # Of a simulation, which plays the rest of a match: half of it on average.
        return work_of_network(agent) + (mixing.rollouts * work_of_match / 2 if mixing.share else 0)

    def simulations_with(mixing: Mixing) -> int:
        return _allowed(game, int(work_of_move / work_with(mixing)))

    def learned(mixing: Mixing) -> MctsPlayer:
        search = TreeSearchParameters(simulations=simulations_with(mixing))
        return search.search_player(game, mixing.evaluator(agent))

    def play(player: MctsPlayer, opponent: MctsPlayer, matches: range) -> PairResult:
        key = stream_key(seed, 0, Activity.MEASUREMENT)
        return Series(matches, key, opening_plies=OPENING_PLIES).play(game, (player, opponent))

    share = WORK_OF_RATING / (moves * simulations_with(mixing) * work_with(mixing))
    # Even, for both seats.
    matches, trials_played = (
        min(usual, max(few, 2 * int(usual * share / 2)))
        for usual, few in ((MATCHES, FEW_MATCHES), (TRIALS, FEW_TRIALS))
    )
    with closing(progress(total=matches + trials_played * (mixing.share > 0), desc="rating: matches")) as bar:
        if mixing.share:
            trials = play(learned(UNMIXED), learned(mixing), range(MATCHES, MATCHES + trials_played))
            least = 1 / 2 + (-MARGIN if was_unmixed else MARGIN)
            mixing = UNMIXED if trials.results.score > least else mixing
            bar.update(trials_played)
        simulations = simulations_with(mixing)
        rollouts = _allowed(game, int(simulations * work_with(mixing) / work_of_match))
        opponent = TreeSearchParameters(rule="uct", simulations=rollouts).search_player(game, RolloutEvaluator())
        result = play(learned(mixing), opponent, range(matches))
    return VersusRollouts(mixing, simulations, rollouts, result)
