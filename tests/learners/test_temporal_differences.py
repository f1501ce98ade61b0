"""Temporal differences: matches of a search are played with the weights of the round before them."""

from functools import partial

import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.games import make_game
from selfplay.learners.learner import LevelInputs, Resources
from selfplay.learners.temporal_differences import TemporalDifferences
from selfplay.named_players.make import make_player
from selfplay.training.fitting import initial_network
from selfplay.training.td_learning import TrainingMatches, td_learn

GAME = make_game("tictactoe")
SEARCH = "search:negascout?depth=2"


def untrained() -> Agent:
    metadata = {"outcome": "return", "architecture": {"name": "ntuple"}}
    return Agent(Checkpoint(initial_network(GAME, {"name": "ntuple"}), metadata), GAME, "level 1")


def named(name: str, itself: Agent | None) -> object:
    return make_player(name, GAME, itself=itself)


def test_searches_have_the_present_weights_in_every_round() -> None:
    learner = TemporalDifferences(self_play=SEARCH, round_matches=16, epsilons=[0.2], step_size=1.0)
    resources, start, expected = Resources(named), untrained(), untrained()
    trained = learner.train(LevelInputs(GAME, start, level=1, matches=48, resources=resources))
    tables = expected.network.trainable_tables()

    def searching(network: torch.nn.Module) -> object:
        return learner.player(Agent(Checkpoint(network, expected.checkpoint.metadata), GAME, "level 1"), resources)

    make_player = partial(searching, expected.network)
    matches = TrainingMatches(number=48, epsilons=learner.epsilons, make_player=make_player)
    tables.weights[:] = td_learn(GAME, tables, matches, learner).mean
    assert torch.equal(trained.network.weight, expected.network.half().weight)
    assert list(trained.epochs[0].measured) == ["mean_squared_error"]
