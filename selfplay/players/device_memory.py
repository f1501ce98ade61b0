"""How much of a device's memory matches take, and how many of them it therefore plays in lockstep.

On a GPU a batch should be large: a ply of few matches keeps it as long as one of many. What is counted here is what
torch's operations hold at once in the worst ply there can be.
"""

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from selfplay.compute.devices import CPU, free_bytes
from selfplay.games.game import Game
from selfplay.players.capabilities import PlaysOnDevice

if TYPE_CHECKING:
    from selfplay.players.player import Player

USUAL_BATCH_SIZE = 16384
LARGEST_BATCH_SIZE = 65536
"""The records of a batch go through the CPU's memory, and more matches make a GPU no faster."""

SHARE_OF_FREE = 0.5
"""So much of the free memory is planned for; allocation leaves gaps."""

WORD, FLOAT = 8, 4
STATE = 2 * WORD + FLOAT + 2
"""Bytes of a state: two words, the return, the player and whether the match is over."""
WORDS_OF_RULES = 24
"""Words that the operations of a game's rules hold at once."""
WORDS_OF_OBSERVATION = 3
"""Words that are held at once for each entry of an observation while it is taken out of a position."""
LAYERS_HELD = 4
"""Outputs of layers that are held at once: the input and the output of one, and what goes past it."""


def afterstate_bytes(game: Game) -> int:
    """What it takes to make one afterstate, and to show it to a network."""
    observation = prod(game.observation_shape) * (WORDS_OF_OBSERVATION * WORD + FLOAT)
    return STATE + WORDS_OF_RULES * WORD + observation


def position_bytes(game: Game) -> int:
    """What it takes to value every action of one position at once, each of them legal."""
    mask = 4 * WORD
    return game.num_distinct_actions * (mask + afterstate_bytes(game))


def match_bytes(game: Game) -> int:
    """What one match takes: its record, each ply a state and an action, and its share in the ply that is played."""
    return 2 * (game.max_game_length + 1) * (STATE + WORD) + WORDS_OF_RULES * WORD + position_bytes(game)


def network_bytes(network: nn.Module, observation_shape: tuple[int, ...], rows: int) -> int:
    """What a network takes that sees `rows` observations at once: its weights and its largest layers' outputs."""
    largest = prod(observation_shape)

    def measure(_module: nn.Module, _inputs: object, output: Tensor) -> None:
        nonlocal largest
        largest = max(largest, output[0].numel())

    hooks = [module.register_forward_hook(measure) for module in network.modules()]
    parameters = list(network.parameters())
    try:
        with torch.inference_mode():
            network(torch.zeros(1, *observation_shape, device=parameters[0].device if parameters else CPU))
    finally:
        for hook in hooks:
            hook.remove()
    return FLOAT * (sum(parameter.numel() for parameter in parameters) + LAYERS_HELD * rows * largest)


def fitting_batch_size(game: Game, players: Iterable["Player"], device: str) -> int:
    """How many matches between these players are played in lockstep unless the settings say so."""
    if device == CPU:
        return USUAL_BATCH_SIZE
    return batch_size_within(int(SHARE_OF_FREE * free_bytes()), game, players)


def batch_size_within(memory: int, game: Game, players: Iterable["Player"]) -> int:
    """The largest power of two of matches, at most LARGEST_BATCH_SIZE, that so many bytes hold; 1 if they hold none."""
    on_device = [player.as_a(PlaysOnDevice) for player in dict.fromkeys(players)]
    left = memory - sum(player.bytes_on_device() for player in on_device if player is not None)
    fitting = min(LARGEST_BATCH_SIZE, max(1, left // match_bytes(game)))
    return 1 << (fitting.bit_length() - 1)
