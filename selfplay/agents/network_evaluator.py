"""Networks as evaluators of tree searches, and the player that acts by a policy head without searching."""

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.agents.compiled_networks import (
    ObservedProgram,
    compile_policy_network,
    compile_value_network,
    shown_in,
)
from selfplay.architectures import Output
from selfplay.architectures.layer_program import LayerProgram, NoProgramError, layer_program, with_own_memory
from selfplay.checks import Range
from selfplay.compute.compilation import IS_UNCOMPILED, Words, compiled
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.compiled_words import load, position_hash, position_of, set_position, word_rows
from selfplay.compute.devices import CPU, NATIVE, PORTABLE
from selfplay.compute.portable import is_portable, set_numerics
from selfplay.compute.random_numbers import Draws
from selfplay.compute.table_memory import zeros_of_table
from selfplay.games.game import Game
from selfplay.games.outcomes import OUTCOMES
from selfplay.games.state import State
from selfplay.pickling import MadeAgain
from selfplay.players.player import Player, one_hot_policy
from selfplay.players.value_net import ValueNetPlayer, best_values, evaluate_output
from selfplay.search.evaluation import EvaluationParameters
from selfplay.search.mcts.evaluator import PRIOR_TEMPERATURE, CompiledPositionValue, PositionValues

LARGEST_LINEAR, LINEAR_SHARE = 200_000, 0.25
"""Networks are computed inside compiled searches if they have at most this number of products in linear layers, or at
most this share of those in convolutions. torch computes larger linear layers faster in batches, because it reads their
weights once for many positions (see docs/speed.md)."""

BLOCK = 32
"""Rows in one forward pass on the CPU: a search of a single match evaluates one position at a time, and must get the
same result as in a batch. Convolutions are fastest with 32 to 64 rows."""


# ---------------------------------------------------------------------- remembered evaluations

BYTES = 32 << 20
"""Memory of a cache: 524,288 positions of Connect Four, 65,536 of Othello."""


class EvaluationCache(MadeAgain):
    """The evaluations of float32 values and logits in a table of fixed size. May be used by several threads.

    The searches of consecutive plies of a match share positions, and so do different matches. Evaluations do not depend
    on the other positions of a batch, so keeping them does not change any result. Each position has one place, given by
    its hash; a new position replaces the previous one.
    """

    def __init__(self, num_actions: int, memory: int = BYTES, num_words: int = 2) -> None:
        position, logits = ("position", word_dtype(num_words)), ("logits", np.float32, num_actions)
        kind = np.dtype([position, ("value", np.float32), logits, ("is_filled", np.bool_)])
        # A power of two.
        self._entries = zeros_of_table(1 << ((memory // kind.itemsize).bit_length() - 1), kind)
        self._num_actions, self._lock = num_actions, Lock()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries["is_filled"] = False

    def evaluate(self, state: State, evaluate: Callable[[State], PositionValues]) -> PositionValues:
        """The evaluations of positions; `evaluate`, always the same, is asked for those not remembered."""
        positions, size = word_rows(state.position), state.batch_size
        value, missing = torch.empty(size), torch.empty(size, dtype=torch.int64)
        logits = torch.empty(size, self._num_actions)
        with self._lock:
            count = _look_up(positions, self._entries, value.numpy(), logits.numpy(), missing.numpy())
        if count:
            rows = missing[:count]
            value[rows], logits[rows] = (part.to(torch.float32) for part in evaluate(state.select(rows)))
            with self._lock:
                _store(positions, self._entries, value.numpy(), logits.numpy(), rows.numpy())
        return PositionValues(value, logits)


@compiled
def _look_up(
    positions: Words,
    entries: NDArray[np.void],
    value: NDArray[np.float32],
    logits: NDArray[np.float32],
    missing: NDArray[np.int64],
) -> int:
    """Write the remembered evaluations, and the rows without one into `missing`; returns the number of these."""
    count = 0
    for row in range(len(positions)):
        position = load(positions, row)
        entry = entries[position_hash(position) & (len(entries) - 1)]
        if entry.is_filled and position_of(entry) == position:
            value[row] = entry.value
            for action in range(logits.shape[1]):
                logits[row, action] = entry.logits[action]
        else:
            missing[count] = row
            count += 1
    return count


@compiled
def _store(
    positions: Words,
    entries: NDArray[np.void],
    value: NDArray[np.float32],
    logits: NDArray[np.float32],
    rows: NDArray[np.int64],
) -> None:
    for row in rows:
        position = load(positions, row)
        entry = entries[position_hash(position) & (len(entries) - 1)]
        set_position(entry, position)
        entry.is_filled, entry.value = True, value[row]
        for action in range(logits.shape[1]):
            entry.logits[action] = logits[row, action]


# ---------------------------------------------------------------------- evaluators


class NetworkEvaluator:
    """A network as the evaluator of a tree search.

    With a policy head it gives the value of the position and the logits of the actions. Without a policy head, the
    values of the afterstates give the priors, and the best of them is the value of the position, as in
    `AfterstateEvaluator` for evaluations that can be compiled.

    On the CPU, networks that are lists of layers, without large linear layers (LARGEST_LINEAR), are computed inside the
    compiled search, one position at a time. Others are evaluated in batches by torch; their evaluations are kept. The
    weights must not change.

    Args:
        outcome: what the network predicts, a name in `selfplay.games.outcomes.OUTCOMES`.
        temperature: of the priors without a policy head, above 0; None: the network has one.

    Raises SettingError if the temperature is out of range.
    """

    is_random = False

    def __init__(
        self,
        game: Game,
        network: nn.Module,
        outcome: str = "return",
        temperature: float | None = PRIOR_TEMPERATURE,
        name: str = "network",
    ) -> None:
        Range(above=0).check("prior_temperature", 1.0 if temperature is None else temperature)
        self.player = ValueNetPlayer(game, network, name=name, outcome=outcome)
        self.ends, self.temperature, self.name = OUTCOMES[outcome](game), temperature, name
        self._cache = EvaluationCache(game.num_distinct_actions, num_words=game.rules.position.num_words)
        self._program = self._compiled_program()

    @property
    def position_value(self) -> Callable[[Game], CompiledPositionValue] | None:
        """See `CompiledEvaluator`; None: it evaluates batches."""
        if self._program is None:
            return None
        return compile_policy_network if self.temperature is None else compile_value_network

    def parameters(self, game: Game) -> Any:
        """Those of `position_value`; 0 if there is none."""
        if self._program is None:
            return 0
        observed = ObservedProgram(shown_in(game), with_own_memory(self._program))
        if self.temperature is None:
            return observed
        return float(self.temperature), EvaluationParameters(np.array(self.ends, dtype=np.float64), observed)

    def evaluate(self, state: State) -> PositionValues:
        return self._cache.evaluate(state, self._evaluate)

    def _evaluate(self, state: State) -> PositionValues:
        if self.temperature is None:
            output = evaluate_output(self.player.network, self.player.game.observe(state), BLOCK)
            assert output.policy_logits is not None, "checked by `Agent.evaluator`"
            # The output is the outcome for the player who is not to move.
            return PositionValues(-output.value, output.policy_logits)
        values = self.player.action_values(state)
        # Values of linear outputs may exceed those of a won match.
        return PositionValues(best_values(values).clamp(-1, 1), values.nan_to_num(nan=0.0) / self.temperature)

    def move_to(self, device: str) -> None:
        """Searches that were made before do not notice it: see `TreeSearch.move_to`."""
        self._cache.clear()
        self.player.move_to(device)
        self._program = self._compiled_program()

    def _compiled_program(self) -> LayerProgram | None:
        network, game = self.player.network, self.player.game
        if IS_UNCOMPILED or next(network.parameters(), torch.empty(0)).device.type != CPU:
            return None
        try:
            program = layer_program(network, game.observation_shape)
        except NoProgramError:
            return None
        linear = program.products - program.convolved
        return program if linear <= max(LARGEST_LINEAR, LINEAR_SHARE * program.convolved) else None


class SymmetricNetwork(nn.Module):
    """The means of the outputs of a network for all images of each position.

    A network trained on all images still values them a little differently. The mean is more exact (Silver et al.,
    "Mastering the game of Go with deep neural networks and tree search", 2016, use it for all eight images), and takes
    as many forward passes as the game has symmetries.
    """

    def __init__(self, network: nn.Module, game: Game) -> None:
        super().__init__()
        self.network = network
        set_numerics(self, PORTABLE if is_portable(network) else NATIVE)
        self.observations: Tensor
        self.actions: Tensor
        for name, images in game.symmetries._asdict().items():
            self.register_buffer(name, torch.from_numpy(images), persistent=False)

    def forward(self, observations: Tensor) -> Output:
        flat = observations.flatten(1)
        outputs = [self.network(flat[:, entries].reshape(observations.shape)) for entries in self.observations]
        value = torch.stack([output.value for output in outputs]).mean(dim=0)
        if outputs[0].policy_logits is None:
            return Output(value)
        # Entry a of a row of `actions` is where action a goes in this image.
        logits = [output.policy_logits[:, places] for output, places in zip(outputs, self.actions, strict=True)]
        return Output(value, torch.stack(logits).mean(dim=0))


class PolicyNetPlayer(Player):
    """Takes the legal action with the largest logit, the lowest of equal ones."""

    def __init__(self, game: Game, evaluator: NetworkEvaluator, name: str | None = None) -> None:
        self.game, self.evaluator, self.name = game, evaluator, name or f"policy of {evaluator.name}"

    def act(self, state: State, draws: Draws) -> Tensor:
        return self._actions(state)

    def policy(self, state: State) -> Tensor:
        """float64[B, A]: 1 for the action that it takes; the rows of finished matches are 0."""
        return one_hot_policy(self._actions(state), self.game.legal_action_mask(state))

    def move_to(self, device: str) -> None:
        self.evaluator.move_to(device)

    def _actions(self, state: State) -> Tensor:
        logits = self.evaluator.evaluate(state).logits
        actions: Tensor = logits.masked_fill(~self.game.legal_action_mask(state), -float("inf")).argmax(dim=1)
        return actions
