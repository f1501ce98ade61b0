"""Rows of datasets in tests: made from matches, and shown as observations."""

import numpy as np

from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.targets import PlayedMatches, full
from selfplay.games.match_outcome import match_return
from selfplay.matches.arena import play_matches
from selfplay.players.random import RandomPlayer


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
    return np.unpackbits(codec.pack(rows.own, rows.opp), axis=1, count=codec.size)


def words_of(observations, codec):
    """The two words of positions with these observations (uint8[N, D])."""
    return codec.unpack(np.packbits(observations, axis=1))
