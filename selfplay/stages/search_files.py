"""Files of a level for searches: what it has learned as an evaluation, and the parameters with which ProbCut cuts.

selfplay export-evaluation, selfplay fit-probcut
"""

import logging
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import InvalidFileError, SettingError
from selfplay.files import sha256, written_whole
from selfplay.games import Game, State
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.runs.levels import agent_of_level
from selfplay.search.feature_evaluation import FeatureEvaluation, evaluation_text
from selfplay.search.probcut import SMALLEST_DEPTH, ProbCutParameters, fit_check, probcut_text
from selfplay.search.searcher import Searcher, SearchParameters
from selfplay.settings.evaluation import ExportSettings, ProbCutSettings
from selfplay.settings.run import opened

log = logging.getLogger(__name__)

EXPLORATION = 0.1
"""The share of random actions in the matches: searches also reach positions that the level itself avoids."""
PHASES = 6
"""Number of phases of the match, with about the same number of positions each."""
PARAMETERS = SearchParameters(table_bits=18)


def export_evaluation(settings: ExportSettings) -> Path:
    """Write the evaluation that a level has learned; returns the path of its file.

    Raises as `agent_of_level`, RunLockedError if another process or thread is using the run, InvalidFileError if its
    network is not a weighted sum of features, and StageError if the file cannot be written.
    """
    with opened(settings, create=False) as run:
        folder = run.folder
        agent = agent_of_level(folder.path, settings.level, run.game)
        level = agent.checkpoint.metadata["level"]
        evaluation = agent.evaluation()
        if not isinstance(evaluation, FeatureEvaluation):
            name = agent.checkpoint.metadata["architecture"]["name"]
            reason = f"architecture={name} has no feature weights; train a level of Othello with "
            raise InvalidFileError(folder.agent(level), f"{reason}architecture=othello_features")
        path = folder.evaluation(level) if settings.file is None else Path(settings.file)
        with written_whole(path) as beside:
            comment = f"# What level {level} has learned, as the expected return of the player to move."
            beside.write_text(f"{comment}\n{evaluation_text(evaluation)}")
        log.info("wrote %s", path)
        return path


def fit_probcut(settings: ProbCutSettings) -> Path:
    """Fit the parameters of a level and write them beside its weights; returns the path of their file.

    Raises as `agent_of_level`, RunLockedError if another process or thread is using the run, and SettingError if
    compiled searches cannot compute the values of the level.
    """
    with opened(settings, create=False) as run:
        folder, game = run.folder, run.game
        agent = agent_of_level(folder.path, settings.level, game)
        level = agent.checkpoint.metadata["level"]
        evaluation = agent.evaluation()
        if evaluation is None:
            raise SettingError(f"level={level}: ProbCut needs tables (architecture=ntuple...) or feature weights")
        player = EpsilonGreedyPlayer(game, agent.player(), [EXPLORATION])
        state = self_play_positions(game, player, settings)
        values = {}
        for depth in range(1, settings.deepest + 1):
            values[depth] = Searcher(game, evaluation, parameters=PARAMETERS).search_batch(state, depth).values
            log.info("searched %s positions %s plies deep", f"{state.batch_size:,}", depth)
        starts, phases = phases_of(game, state)
        checks = tuple(fit_check(values, phases, deep) for deep in range(SMALLEST_DEPTH, settings.deepest + 1))
        parameters = ProbCutParameters(game.name, sha256(folder.agent(level)), state.batch_size, starts, checks)
        path = folder.probcut(level)
        with written_whole(path) as beside:
            beside.write_text(probcut_text(parameters))
        log.info("wrote %s", path)
        return path


def self_play_positions(game: Game, player: Player, settings: ProbCutSettings) -> State:
    """One position of each match of self-play, at plies after the random opening that are spread evenly."""
    key, match = stream_key(settings.seed, 0, Activity.MEASUREMENT), torch.arange(settings.positions)
    state, states = game.init(settings.positions), list[State]()
    while not bool(state.terminated.all()):
        states.append(state)
        draws = Draws(key, match, len(states) - 1)
        is_opening = draws.ply < settings.opening_plies
        actions = game.kernels.random_actions(state, draws) if is_opening else player.act(state, draws)
        state = game.step(state, actions)
    lengths = torch.stack([~state.terminated for state in states]).sum(dim=0)
    plies = settings.opening_plies + match % (lengths - settings.opening_plies).clamp(min=1)
    chosen = [state.select((plies == ply) & ~state.terminated) for ply, state in enumerate(states)]
    return State(*(torch.cat(field) for field in zip(*chosen, strict=True)))


def phases_of(game: Game, state: State) -> tuple[tuple[int, ...], NDArray[np.int64]]:
    """The numbers of stones with which the second and later phases begin, and int64[B]: the phase of each position."""
    stones = game.stone_counts(state).numpy()
    quantiles = np.quantile(stones, np.arange(1, PHASES) / PHASES, method="higher")
    starts = np.unique(quantiles[quantiles > stones.min()])
    return tuple(starts.tolist()), np.searchsorted(starts, stones, side="right")
