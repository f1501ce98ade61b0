"""The player that draws actions by the values of another one, so that its strength can be set."""

import torch
from torch import Tensor

from selfplay.checks import require
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import ActionValues, Player, PlayerWrapper, sample_actions
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.searcher import Searcher, SearchParameters

FLOOR = 3.0
"""Actions that are more temperatures than this below the best one, and so less than exp(-3) as likely, are never
taken."""
SIGHT = 2
"""The plies in which a win at once and the threat of one are seen."""


class TemperedPlayer(PlayerWrapper):
    """Draws actions by the values that `player` gives them: the better, the more likely.

    The probability of an action is proportional to exp(value / temperature), and 0 if this is below exp(-FLOOR) of that
    of the best one. Of a player that simulates, the value is taken to be log(simulations + prior), which
    is defined for actions without simulations too.
    Actions that the rules do not call sensible (`Rules.sensible`) are never taken where others are legal.

    Args:
        player: values its actions.
        temperature: above 0, on the scale of the values.
        notices: the probability that it looks, at a ply, whether it can win at once, and which actions let the other
            player win at once. It then takes one of the former, and none of the latter if it can.

    Raises SettingError for an argument out of range.
    """

    def __init__(
        self,
        game: Game,
        player: Player,
        temperature: float,
        *,
        notices: float = 1.0,
        name: str | None = None,
    ) -> None:
        require("temperature", temperature, temperature > 0, "above 0")
        require("notices", notices, 0 <= notices <= 1, "from 0 to 1")
        super().__init__(player, name)
        self.game, self.temperature, self.notices = game, temperature, notices
        only_ends = FeatureEvaluation(win=1.0, margin=0.0, weights={}, name="ends")
        self._sight = Searcher(game, only_ends, parameters=SearchParameters(table_bits=0))

    def act(self, state: State, draws: Draws) -> Tensor:
        notices = draws.uniforms(Purpose.NOTICE) < self.notices
        policy = torch.where(notices[:, None], *self._policies(state, draws))
        return sample_actions(policy, draws.uniforms(Purpose.SAMPLED_ACTION))

    def policy(self, state: State) -> Tensor | None:
        """See `Player.policy`; None if the searches of the wrapped player use random numbers."""
        if self.player.policy(state) is None:
            return None
        noticing, other = self._policies(state)
        return self.notices * noticing + (1 - self.notices) * other

    def _policies(self, state: State, draws: Draws | None = None) -> tuple[Tensor, Tensor]:
        """Two float64[B, A]: the probability of each action for one who looks for wins at once, and otherwise."""
        found = self.player.value_actions(state, draws)
        assert found is not None, "only players that value actions are wrapped"
        allowed = self.game.sensible_action_mask(state)
        scores = _scores(found)
        return self._drawn(scores, allowed & self._not_lost_at_once(state, allowed)), self._drawn(scores, allowed)

    def _drawn(self, scores: Tensor, allowed: Tensor) -> Tensor:
        """float64[B, A]: the probabilities of the actions with these scores, of which some are allowed (bool[B, A])."""
        tempered = torch.where(allowed, scores, -torch.inf) / self.temperature
        below_best = tempered - tempered.amax(dim=1, keepdim=True)
        weights = torch.where(below_best >= -FLOOR, below_best.exp(), 0.0)
        return weights / weights.sum(dim=1, keepdim=True).clamp(min=1)

    def _not_lost_at_once(self, state: State, allowed: Tensor) -> Tensor:
        """bool[B, A]: the actions that win at once if there are any, or else those after which the other cannot."""
        values = self._sight.action_values(state, SIGHT).where(allowed, -torch.inf)
        best = values.amax(dim=1, keepdim=True)
        return (values >= best) | ((best < 1) & (values > -1))


def _scores(found: ActionValues) -> Tensor:
    """float64[B, A]: by which actions are drawn; none is above that of the action that a search prefers."""
    if found.visits is None or found.priors is None:
        return found.values.double()
    scores = (found.visits + found.priors).log()
    if found.preferred is not None:
        scores[torch.arange(len(scores)), found.preferred.clamp(min=0)] = scores.amax(dim=1)
    return scores
