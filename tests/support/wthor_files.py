"""WTHOR files of known matches."""

import numpy as np
import torch

from selfplay.games import Game
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.matches.arena import play_batch
from selfplay.players.player import RandomPlayer
from selfplay.records.wthor import HEADER, MATCH


def random_matches(game: Game, count: int) -> MatchRecord:
    """Matches of the random player; black moves first in all of them."""
    player = RandomPlayer(game)
    return play_batch(game, (player, player), torch.arange(count), torch.zeros(count, dtype=torch.int8), key=0)


def wthor_file(game: Game, record: MatchRecord) -> bytes:
    """Matches of Othello as a file, without their passes."""
    width = game.observation_shape[1]
    matches = np.zeros(len(record.match), MATCH)
    matches["discs"] = (game.score(record.states[-1]).numpy() + width**2) / 2
    for row, actions in enumerate(record.action_sequences().tolist()):
        squares = [action for action in actions if action not in (MATCH_OVER, game.pass_action)]
        matches["moves"][row, : len(squares)] = [10 * (square // width + 1) + square % width + 1 for square in squares]
    header = np.zeros(1, HEADER)
    header["matches"], header["width"] = len(matches), width
    return header.tobytes() + matches.tobytes()
