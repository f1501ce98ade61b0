"""The gate of the training stage: a new level is taken only if it scores well enough against the level before it
(AlphaGo Zero: 55 %).
"""

import logging
from pathlib import Path

from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.matches.series import count_matches
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import Checkpoint
from selfplay.runs.levels import load_agent
from selfplay.settings.context import RunContext
from selfplay.settings.run import Settings
from selfplay.stages.dataset_players import exploring_agent
from selfplay.training.fitting import FittedLevel

log = logging.getLogger(__name__)


def pass_gate(context: RunContext[Settings], level: int, gate_agent: Path, fitted: FittedLevel) -> dict[str, int]:
    """Play the matches of the gate; a level that does not pass gets the weights of the level before it, in place.

    Returns the counts for the manifest.
    """
    settings, game = context.settings.for_level(level), context.game
    before = load_agent(gate_agent, game, f"level {level - 1}")
    after = Agent(Checkpoint(fitted.network, {"outcome": settings.outcome}), game, f"level {level}")
    new, old = (exploring_agent(settings, agent) for agent in (after, before))
    key, size = stream_key(settings.seed, level, Activity.GATE), settings.batch_size
    results = count_matches(game, (new, old), settings.gate_matches, key, size, device=context.device).results
    fitted.network.to(CPU)
    score, gate = results.score, settings.gate or 0.0
    is_taken = score >= gate
    if not is_taken:
        fitted.network.load_state_dict(before.network.to(CPU).state_dict())
    verdict = "taken" if is_taken else f"not taken: keeps the weights of level {level - 1}"
    log.info("level %d: scores %.3f against level %d (gate=%g), %s", level, score, level - 1, gate, verdict)
    wins, draws, losses = results
    return {"gate_wins": wins, "gate_draws": draws, "gate_losses": losses, "gate_taken": int(is_taken)}
