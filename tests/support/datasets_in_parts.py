"""A dataset of matches of tic-tac-toe as a folder of parts, and trainings on its rows."""

from functools import cache

import pyarrow.parquet as pq

from selfplay.architectures import build_network
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.dataset.formats import PARQUET
from selfplay.games import make_game
from selfplay.training.fitting import seeded
from selfplay.training.parameters import Training
from tests.support.dataset_tools import random_rows

GAME = make_game("tictactoe")
SHAPE = GAME.observation_shape
MATCHES = 400
SEED = 3
KEY = stream_key(SEED, 1, Activity.TRAINING)
"""Of the training of level 1."""
CODEC = GAME.observation_codec


@cache
def all_rows():
    """The rows of random matches: not made before a test needs them."""
    return random_rows(GAME, range(MATCHES))


def in_parts(folder, rows, part_rows=700, group_rows=100):
    """A dataset as a folder of parts with `part_rows` rows each and small row groups."""
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, len(rows.match), part_rows)):
        path = folder / f"part-{number:05d}.parquet"
        path.write_bytes(PARQUET.encode([rows.select(slice(start, start + part_rows))], CODEC)[0])
        pq.write_table(pq.read_table(path), path, row_group_size=group_rows, use_dictionary=False)
    return folder


def make_settings(**changes):
    values = {
        "epochs": 2,
        "steps_per_epoch": None,
        "batch_size": 64,
        "merge": False,
        "symmetries": False,
    }
    return Training(**{**values, **changes})


def make_network(architecture="mlp"):
    options = {"hidden_sizes": [16]} if architecture == "mlp" else {}
    with seeded(1):
        return build_network({"name": architecture, **options}, SHAPE, GAME.num_distinct_actions)
