"""Positions and evaluations to search with, and the values of positions without a search."""

import os
import signal
import threading
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from selfplay.compute.compilation import compiled_for_many
from selfplay.compute.compiled_words import load, word_rows
from selfplay.compute.random_numbers import Draws
from selfplay.games import State
from selfplay.games.game import Game
from selfplay.games.rules import Rules
from selfplay.named_players.evaluations import make_evaluation
from selfplay.players.player import RandomPlayer
from selfplay.search.evaluation import CompiledValue, Evaluation, finished_value
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.searcher import SearchResult
from tests.support.dots import CountedDots


def evaluation_for(game: Game) -> FeatureEvaluation:
    if isinstance(game, CountedDots):
        return FeatureEvaluation(win=0.0, margin=1.0, weights={"lead": 1.0})
    return make_evaluation("article" if game.features else "none", game)


def at_ctrl_c(work: Callable[[], object]) -> None:
    """Do the work, and press Ctrl-C soon after it has begun."""
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    work()


def searched_in_time(search: Callable[[float], SearchResult], depth: int) -> SearchResult:
    """What a search finds in the first of several times, in seconds, in which this computer reaches the depth."""
    for seconds in (0.3, 3.0, 30.0):
        if (result := search(seconds)).depth >= depth:
            break
    return result


def position_after(game: Game, plies: int, seed: int) -> State:
    """One match after this number of random plies, or at its end if that is earlier."""
    state, player = game.init(), RandomPlayer(game)
    for ply in range(plies):
        state = game.step(state, player.act(state, Draws(seed, torch.tensor([0]), ply)))
    return state


def position_values(evaluation: Evaluation, game: Game, state: State) -> Tensor:
    """float64[B]: values to the player to move, also of finished positions."""
    values = torch.empty(state.batch_size, dtype=torch.float64)
    write_values = _batch_value(game.rules, evaluation.unfinished_value(game))
    over = state.terminated.numpy()
    write_values(word_rows(state.position), over, *evaluation.parameters(game), values.numpy())
    return values


@cache
def _batch_value(rules: Rules, unfinished_value: CompiledValue) -> Callable[..., None]:
    value_at_end, unpack = finished_value(rules), rules.position.unpack

    @compiled_for_many
    def write_values(positions, over, ends, unfinished, values):
        for i in range(len(positions)):
            position = unpack(load(positions, i))
            if over[i]:
                values[i] = value_at_end(position, ends)
            else:
                values[i] = unfinished_value(position, unfinished)

    return write_values
