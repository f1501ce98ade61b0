"""Rows trained on per second."""

from argparse import Namespace
from dataclasses import replace
from functools import partial
from typing import Any

from measured.matches import TABLES
from measured.timing import per_second
from selfplay import play_matches
from selfplay.architectures import build_network
from selfplay.compute.devices import NATIVE, PORTABLE
from selfplay.compute.portable import set_numerics
from selfplay.dataset.match_rows import discounted_rows
from selfplay.dataset.rows import Rows
from selfplay.games import Game, make_game
from selfplay.players.player import RandomPlayer
from selfplay.settings.run import compose_settings
from selfplay.training.fitting import fit_network, seeded
from selfplay.training.parameters import PRECISIONS, Training
from selfplay.training.rows import TrainingRows

STEPS_IN_EPOCH = 10

WAYS = (("float32", PORTABLE), *((precision, NATIVE) for precision in PRECISIONS))
"""The precision and numerics of each column."""


def training_rows_per_second(options: Namespace) -> None:
    """Print the number of rows trained on per second, by recipe, numerics and precision."""
    print("\nRows trained on per second")
    print(f"\n| game | trained by | {' | '.join(map(', '.join, WAYS))} |\n|---|---|{'---:|' * len(WAYS)}")
    for name in options.games:
        game = make_game(name)
        player = RandomPlayer(game)
        (record,) = play_matches(game, (player, player), range(1000), 0, batch_size=1000)
        rows = discounted_rows(game, record, gamma=0.95)
        networks = [["recipe=default"], ["recipe=article"], ["architecture=residual"]]
        for overrides in (*networks, TABLES.get(name, ["architecture=ntuple"])):
            settings = compose_settings([f"game={name}", *overrides])
            training = replace(settings.learner, steps_per_epoch=STEPS_IN_EPOCH)
            cells = []
            for precision, numerics in WAYS:
                one = replace(training, precision=precision)
                work = partial(train, game, settings.architecture, rows, one, numerics, options.device)
                cells.append(f"{per_second(work, 1, options.seconds, options.repeats):,.0f}")
            print(f"| {name} | {' '.join(overrides)} | {' | '.join(cells)} |", flush=True)


def train(
    game: Game,
    architecture: dict[str, Any],
    rows: Rows,
    training: Training,
    numerics: str,
    device: str,
    n: int,
) -> int:
    """Train for n epochs; returns the number of rows in all steps."""
    with seeded(0):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    set_numerics(network, numerics)
    fit_network(network, TrainingRows(game, [rows]), replace(training, epochs=n), device=device)
    return n * STEPS_IN_EPOCH * training.batch_size
