"""Simulations per second of the matches that a level with tree search learns from."""

from argparse import Namespace
from statistics import median
from time import process_time

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.architectures import build_network
from selfplay.games import make_game
from selfplay.learners.learner import LevelInputs
from selfplay.learners.policy import Policy
from selfplay.settings.run import compose_settings
from selfplay.training.fitting import seeded

RECIPES = ("alphazero_connect_four", "alphazero_gomoku", "alphazero_go")


def simulations_per_second(options: Namespace) -> None:
    """Print the simulations per second of processor time in self-play with random weights, by recipe."""
    print(f"\nSimulations per second of processor time in self-play, {options.together} matches together")
    print("\n| recipe | rows | simulations/s |\n|---|---:|---:|")
    for recipe in RECIPES:
        settings = compose_settings([f"recipe={recipe}", "run_dir=unused"])
        game, learner = make_game(settings.game.name), settings.learner
        assert isinstance(learner, Policy), "all of RECIPES learn a policy"
        with seeded(0):
            network = build_network(settings.architecture, game.observation_shape, game.num_distinct_actions)
        agent = Agent(Checkpoint(network, {"outcome": "return"}), game, recipe)
        inputs, rates, rows = LevelInputs(game, agent, settings.seed, 1), [], 0
        for number in range(options.repeats + 1):
            matches, start = range(number * options.together, (number + 1) * options.together), process_time()
            rows = sum(len(part.match) for part in learner.generate(inputs, matches))
            rates.append(rows * learner.simulations / (process_time() - start))
        # The first one compiles.
        print(f"| {recipe} | {rows:,} | {median(rates[1:]):,.0f} |", flush=True)
