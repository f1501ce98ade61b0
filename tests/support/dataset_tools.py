"""Rows of datasets: from matches or random, as observations, and written to a dataset."""

import numpy as np

from selfplay import play_matches
from selfplay.dataset.formats import CSV, DATASET_FORMATS, PARQUET
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.rows import Rows, concatenate
from selfplay.dataset.target_rules import PlayedMatches, full
from selfplay.games.outcomes import match_return
from selfplay.players.player import RandomPlayer


def rows_of_record(game, record, gamma, viewpoints="both", outcome=match_return):
    """The rows of matches with the targets of the rule `full`."""
    player = RandomPlayer(game)
    return match_rows(PlayedMatches(game, record, (player, player), 0, gamma, outcome), full, viewpoints)


def random_rows(game, matches, key=0, gamma=0.95):
    """The rows of random matches with the numbers `matches` (a range)."""
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), matches, key, batch_size=len(matches))
    return rows_of_record(game, record, gamma)


def observations_of(rows, codec):
    """uint8[N, D]: the observations of rows, 0 or 1."""
    return np.unpackbits(codec.pack(rows.position), axis=1, count=codec.entries.size)


def positions_of(observations, codec):
    """int64[N, W]: the positions with these observations (uint8[N, D])."""
    return codec.unpack(np.packbits(observations, axis=1))


def drawn_rows(codec, count, seed, num_actions=0):
    """Rows of random numbers, whose matches come after those of smaller seeds (from 0 to 31); without policies, or with
    policies of this number of actions."""
    random = np.random.default_rng(seed)
    match = np.sort(random.integers(0, 2**57, count)) + seed * 2**57
    ply = random.integers(0, 2**31 - 1, count, dtype=np.int32)
    positions = positions_of(random.integers(0, 2, (count, codec.entries.size), dtype=np.uint8), codec)
    for own, opp in [codec.stones] if codec.shows_all and codec.stones is not None else []:
        parts = range(own.num_parts)
        for first, second in ((own.offset // 64 + part, opp.offset // 64 + part) for part in parts):
            positions[:, first] &= ~positions[:, second]
    rows = Rows(match, ply, positions, random.uniform(-1, 1, count).astype(np.float32))
    policy = random.dirichlet(np.ones(num_actions), count).astype(np.float32) if num_actions else None
    return rows._replace(policy=policy)


def rows_are_equal(rows, other):
    """Whether all columns have the same dtypes and values."""
    assert (rows.policy is None) == (other.policy is None)
    pairs = [(a, b) for a, b in zip(rows, other, strict=True) if a is not None]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def write_dataset(path, parts, codec):
    """Write the rows of `parts` as one shard; returns how many there were."""
    form = DATASET_FORMATS[path.suffix.removeprefix(".")]
    with form.written(path, {}) as writer:
        content, rows = form.encode(parts, codec)
        writer.add(0, content)
    return rows


def read_dataset(path, codec):
    """The rows of the dataset at `path`: a folder dataset.parquet, or a file dataset.csv."""
    return concatenate(list((PARQUET if path.suffix == PARQUET.suffix else CSV).read(path, codec)))
