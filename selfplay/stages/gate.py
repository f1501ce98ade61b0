"""The gate: a new level is taken only if it scores well enough against the level before it (AlphaGo Zero: 55 %).

Both play as in the matches of their datasets: they search and draw the actions of the first plies, or explore.
"""

import logging
from typing import NamedTuple

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.matches.pair_results import count_matches
from selfplay.players.agent import Agent
from selfplay.players.dataset_players import exploring_agent
from selfplay.runs.checkpoints import Checkpoint
from selfplay.runs.context import run_context
from selfplay.stages.fit_level import FittedLevel
from selfplay.stages.training_plan import TrainingPlan

log = logging.getLogger(__name__)


class GateResult(NamedTuple):
    """The matches of a new level against the level before it."""

    results: WinDrawLoss[int]
    is_taken: bool

    def counts(self) -> dict[str, int]:
        """As in the manifest."""
        wins, draws, losses = self.results
        return {"gate_wins": wins, "gate_draws": draws, "gate_losses": losses, "gate_taken": int(self.is_taken)}


def pass_gate(plan: TrainingPlan, fitted: FittedLevel) -> GateResult:
    """Play the matches of the gate; a level that does not pass gets the weights of the level before it, in place."""
    settings, level, game = plan.settings, plan.level, fitted.game
    assert plan.gate_agent is not None, "asked only with a gate"
    before = Agent.load(plan.gate_agent, game, f"level {level - 1}")
    after = Agent(Checkpoint(fitted.network, {"outcome": settings.outcome}), game, f"level {level}")
    new, old = (exploring_agent(settings, agent) for agent in (after, before))
    device = run_context(settings).device
    key = stream_key(settings.seed, level, Activity.GATE)
    results = count_matches(game, (new, old), settings.gate_matches, key, settings.batch_size, device=device).results
    fitted.network.to("cpu")
    score, gate = results.score, settings.gate or 0.0
    is_taken = score >= gate
    if not is_taken:
        fitted.network.load_state_dict(before.network.to("cpu").state_dict())
    verdict = "taken" if is_taken else f"not taken: keeps the weights of level {level - 1}"
    log.info("level %d: scores %.3f against level %d (gate=%g), %s", level, score, level - 1, gate, verdict)
    return GateResult(results, is_taken)
