"""Actions that are drawn by the values, or the simulations, that another player gives them."""

import math

import pytest
import torch

from selfplay.games import State, make_game
from selfplay.players.player import ActionValues
from selfplay.players.tempered import FLOOR, TemperedPlayer
from tests.support.stub_players import FirstLegal, Valuing

GAME = make_game("tictactoe")
CENTRE = GAME.state_after(["1,1"])


class Simulating(FirstLegal):
    """Tells simulations and priors: of the corners 40, 20, 10 and 0, and none of the edges, which have no prior."""

    def __init__(self, preferred: int | None) -> None:
        super().__init__(GAME)
        self.preferred = None if preferred is None else torch.tensor([preferred])

    def value_actions(self, state: State, draws: object = None) -> ActionValues:
        visits, priors, values = torch.zeros((3, 1, 9), dtype=torch.float64)
        visits[0, [0, 2, 6]] = torch.tensor([40.0, 20.0, 10.0], dtype=torch.float64)
        priors[0, [0, 8]] = 0.5
        return ActionValues(values, visits=visits, priors=priors, preferred=self.preferred)


def drawn(player: FirstLegal, temperature: float, state: State = CENTRE) -> list[float]:
    policy = TemperedPlayer(GAME, player, temperature, notices=0.0).policy(state)
    assert policy is not None
    return [float(share) for share in policy[0]]


@pytest.mark.parametrize(("temperature", "power"), [(1.0, 1.0), (2.0, 0.5)])
def test_actions_are_drawn_by_a_power_of_their_simulations_and_priors(temperature: float, power: float) -> None:
    weights = [40.5, 0, 20, 0, 0, 0, 10, 0, 0.5]
    powers = [weight**power * (weight > 40.5 * math.exp(-FLOOR * temperature)) for weight in weights]
    assert drawn(Simulating(None), temperature) == pytest.approx([one / sum(powers) for one in powers])


def test_no_action_is_likelier_than_the_one_that_the_search_prefers() -> None:
    policy = drawn(Simulating(6), 1.0)
    assert policy[6] == policy[0] == max(policy)
    assert policy[2] == pytest.approx(policy[0] * 20 / 40.5)


def test_actions_are_drawn_by_the_exponential_of_their_values() -> None:
    # Action a has the value a / 100. The centre is taken.
    weights = [math.exp(action / 100 / 0.04) * (action != 4) for action in range(9)]
    assert drawn(Valuing(GAME), 0.04) == pytest.approx([one / sum(weights) for one in weights], rel=1e-4)
