"""The memory that matches need on a device, and the number of matches to play in lockstep.

On a GPU a batch should be large, because a ply of few matches takes as long as a ply of many. The estimates count the
tensors that torch's operations hold at the same time, in a ply in which every action is legal.
"""

from collections.abc import Iterable
from math import prod

from torch import Tensor, nn

from selfplay.architectures import probe
from selfplay.compute.devices import CPU, free_bytes
from selfplay.games.game import Game
from selfplay.players.capabilities import PlaysOnDevice
from selfplay.players.player import Player

USUAL_BATCH_SIZE = 16384
LARGEST_BATCH_SIZE = 65536
"""A larger batch is not faster on a GPU, and the records of a batch must fit into the memory of the CPU."""

SHARE_OF_FREE = 0.5
"""Share of the free memory that may be used, because allocation leaves gaps."""

WORD, FLOAT = 8, 4
STATE = 2 * WORD + FLOAT + 2
"""Bytes of a state: two words, the return, the player, and whether the match is over."""
WORDS_OF_RULES = 24
"""Words per match that the rules of a game hold at the same time."""
WORDS_OF_OBSERVATION = 3
"""Words per entry of an observation that are held while it is computed from a position."""
LAYERS_HELD = 4
"""Outputs of layers that are held at the same time: the input and output of one layer, and a skip connection."""


def position_bytes(game: Game) -> int:
    """Bytes to value all actions of one position at the same time, if every action is legal."""
    mask = 4 * WORD
    observation = prod(game.observation_shape) * (WORDS_OF_OBSERVATION * WORD + FLOAT)
    return game.num_distinct_actions * (mask + STATE + WORDS_OF_RULES * WORD + observation)


def match_bytes(game: Game) -> int:
    """Bytes of one match: its record (a state and an action for each ply), and the ply that is being played."""
    return 2 * (game.max_game_length + 1) * (STATE + WORD) + WORDS_OF_RULES * WORD + position_bytes(game)


def network_bytes(network: nn.Module, observation_shape: tuple[int, ...], rows: int) -> int:
    """Bytes of a network that evaluates `rows` observations at a time: its weights and its largest layer outputs."""
    largest = prod(observation_shape)

    def measure(_module: nn.Module, _inputs: object, output: object) -> None:
        nonlocal largest
        outputs = output if isinstance(output, tuple) else (output,)
        largest = max([largest, *(tensor[0].numel() for tensor in outputs if isinstance(tensor, Tensor))])

    hooks = [module.register_forward_hook(measure) for module in network.modules()]
    try:
        probe(network, observation_shape)
    finally:
        for hook in hooks:
            hook.remove()
    weights = sum(parameter.numel() for parameter in network.parameters())
    return FLOAT * (weights + LAYERS_HELD * rows * largest)


def fitting_batch_size(game: Game, players: Iterable["Player"], device: str) -> int:
    """The number of matches between these players to play in lockstep, if no batch size is given."""
    if device == CPU:
        return USUAL_BATCH_SIZE
    return batch_size_within(int(SHARE_OF_FREE * free_bytes()), game, players)


def batch_size_within(memory: int, game: Game, players: Iterable["Player"]) -> int:
    """The largest number of matches, a power of two from 1 to LARGEST_BATCH_SIZE, that fits into `memory` bytes."""
    inner = [player.unwrapped for player in dict.fromkeys(players)]
    left = memory - sum(player.bytes_on_device() for player in inner if isinstance(player, PlaysOnDevice))
    fitting = min(LARGEST_BATCH_SIZE, max(1, left // match_bytes(game)))
    return 1 << (fitting.bit_length() - 1)
