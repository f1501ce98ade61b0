"""The gate: a new level is taken only if it scores well enough against the level before it (AlphaGo Zero: 55 %)."""

import logging
from collections.abc import Callable

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.learners.learner import LevelInputs, TrainedLevel
from selfplay.matches.series import Series
from selfplay.players.player import Player

log = logging.getLogger(__name__)


def after_gate(
    inputs: LevelInputs, trained: TrainedLevel, player: Callable[[Agent], Player], gate: float, matches: int
) -> TrainedLevel:
    """Play the matches of the gate; a level that does not pass gets the weights of the level before it, in place.

    Args:
        player: makes the player that an agent is in these matches.
        gate: the share that the new level must score.
    """
    level, resources = inputs.level, inputs.resources
    before = resources.agent_of(level - 1)
    metadata = {"outcome": before.checkpoint.metadata["outcome"]}
    after = Agent(Checkpoint(trained.network, metadata), inputs.game, f"level {level}")
    key = stream_key(inputs.seed, level, Activity.GATE)
    series = Series(range(matches), key, batch_size=resources.batch_size, device=resources.device)
    results = series.play(inputs.game, (player(after), player(before))).results
    trained.network.to(CPU)
    is_taken = results.score >= gate
    if not is_taken:
        trained.network.load_state_dict(before.network.to(CPU).state_dict())
    verdict = "taken" if is_taken else f"not taken: keeps the weights of level {level - 1}"
    log.info("level %d: scores %.3f against level %d (gate=%g), %s", level, results.score, level - 1, gate, verdict)
    wins, draws, losses = results
    counts = {"gate_wins": wins, "gate_draws": draws, "gate_losses": losses, "gate_taken": int(is_taken)}
    return trained._replace(counts=counts)
