"""The policies of the levels of a run, measured in sampled positions."""

import pandas as pd
import pytest
import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.figures.comparison import figures_of
from selfplay.games import make_game
from selfplay.grading.compared_players import Compared, ComparisonParameters
from selfplay.grading.grades_and_policies import POSITIONS, Policies, policy_player, policy_positions
from selfplay.players.player import RandomPlayer
from selfplay.runs.levels import agent_of_level
from selfplay.runs.run_folder import RunFolder

GAME = make_game("tictactoe")
SEARCH_PLAYER = "selfplay.grading.grades_and_policies.search_player"


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Agent]:
    """Two levels: an untrained policy, and one that is sure of the first empty square."""
    run_dir = tmp_path_factory.mktemp("run")
    architecture = {"name": "alphazero_mlp", "hidden_sizes": [8]}
    for level in (1, 2):
        network = build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions)
        if level == 2:
            network.policy_head.bias.data = 100.0 * torch.arange(9).flip(0)
        path = RunFolder(run_dir).agent(level)
        path.parent.mkdir()
        save_checkpoint(path, network, GAME, level, architecture, {})
    return {level: agent_of_level(run_dir, level, GAME) for level in (1, 2)}


EPSILONS = ComparisonParameters().epsilons


def policies_of(agents: dict[int, Agent], *levels: int) -> Policies:
    players = {0: RandomPlayer(GAME), **{level: agents[level].player() for level in levels}}
    return Policies(Compared(GAME, players, agents={level: agents[level] for level in levels}))


def test_positions_are_different_unfinished_and_spread_over_the_match(agents: dict[int, Agent]) -> None:
    state = policy_positions(agents[1], 1, EPSILONS, 0)
    assert 100 < state.batch_size <= POSITIONS
    assert not state.terminated.any()
    assert len(set(map(tuple, state.position.tolist()))) == state.batch_size
    stones = [(own | opp).bit_count() for own, opp in state.position.tolist()]
    assert min(stones) == 0
    assert max(stones) > 6


@pytest.mark.slow
def test_policies_are_measured_by_entropy_and_agreement_with_search(agents: dict[int, Agent]) -> None:
    state = policy_positions(agents[2], 2, EPSILONS, 0)
    uniform = GAME.legal_action_mask(state).sum(dim=1).double().log().mean()
    first, second = policies_of(agents, 1, 2).rows
    assert (first["level"], first["positions"]) == (1, state.batch_size)
    assert first["policy_entropy"] == pytest.approx(float(uniform))
    assert second["policy_entropy"] < 0.001
    assert 0 < first["search_agreement"] < 1
    assert second["search_agreement"] > first["search_agreement"]
    assert policies_of(agents, 2).rows == [second]


def test_report_and_figure(agents: dict[int, Agent], monkeypatch: pytest.MonkeyPatch) -> None:
    # The policy of level 1 takes the place of the searches, which take 7 s to compile.
    monkeypatch.setattr(SEARCH_PLAYER, lambda *_: policy_player(agents[1], 1))
    measure = policies_of(agents, 1, 2)
    (sentence,) = measure.sentences(pd.DataFrame())
    positions = measure.rows[0]["positions"]
    assert f"of {positions} positions the policy of level 2 chooses the action of a search" in sentence
    left, right = figures_of(measure, pd.DataFrame())["policies.png"].axes
    entropies, agreements = ([row[name] for row in measure.rows] for name in ("policy_entropy", "search_agreement"))
    assert left.lines[0].get_ydata().tolist() == entropies
    assert left.get_ylim()[1] > entropies[0]
    assert right.lines[0].get_ydata().tolist() == agreements
