"""The gate of the training stage: a new level is taken only if it scores well enough against the level before it
(AlphaGo Zero: 55 %).
"""

import logging
from pathlib import Path

from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.learners.learner import TrainedLevel
from selfplay.learners.values import FitsRows
from selfplay.matches.series import count_matches
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import Checkpoint
from selfplay.runs.levels import load_agent
from selfplay.settings.context import RunContext
from selfplay.settings.run import Settings
from selfplay.stages.learner_resources import resources_of

log = logging.getLogger(__name__)


def pass_gate(context: RunContext[Settings], level: int, gate_agent: Path, trained: TrainedLevel) -> dict[str, int]:
    """Play the matches of the gate; a level that does not pass gets the weights of the level before it, in place.

    Returns the counts for the manifest.
    """
    settings, game, learner = context.settings, context.game, context.settings.learner
    assert isinstance(learner, FitsRows), "only such a learner has a gate"
    gate = learner.gate or 0.0
    before = load_agent(gate_agent, game, f"level {level - 1}")
    after = Agent(Checkpoint(trained.network, {"outcome": learner.outcome}), game, f"level {level}")
    resources = resources_of(context)
    new, old = (learner.player(agent, resources) for agent in (after, before))
    key, size = stream_key(settings.seed, level, Activity.GATE), settings.batch_size
    results = count_matches(game, (new, old), learner.gate_matches, key, size, device=context.device).results
    trained.network.to(CPU)
    score = results.score
    is_taken = score >= gate
    if not is_taken:
        trained.network.load_state_dict(before.network.to(CPU).state_dict())
    verdict = "taken" if is_taken else f"not taken: keeps the weights of level {level - 1}"
    log.info("level %d: scores %.3f against level %d (gate=%g), %s", level, score, level - 1, gate, verdict)
    wins, draws, losses = results
    return {"gate_wins": wins, "gate_draws": draws, "gate_losses": losses, "gate_taken": int(is_taken)}
