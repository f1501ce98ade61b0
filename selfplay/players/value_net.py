"""The player that values every afterstate with a network."""

import torch
from torch import Tensor, nn

from selfplay.architectures import Output, check_output
from selfplay.architectures.capabilities import ScoresActions
from selfplay.compute.devices import CPU
from selfplay.compute.portable import arithmetic_of
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SettingError
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.game import Game
from selfplay.games.outcomes import OUTCOMES, outcome_of_other
from selfplay.games.state import State
from selfplay.players.player import ActionValues, Player, one_hot_policy, sample_actions

EVALUATION_BLOCK = 256
"""Rows in one forward pass on the CPU. The number is fixed: the order of the sums in a matrix product may depend on its
shape, but the value of a position must not depend on the other positions of the batch."""

EVALUATION_BLOCK_ON_GPU = 4096
"""Rows in one forward pass on a GPU; fewer rows hardly save time."""

MAX_DEPTH = 3
TREES_AT_ONCE = 4096
"""Positions whose trees are searched together; it limits the memory."""


def evaluate_output(
    network: nn.Module, observations: Tensor, rows: int = EVALUATION_BLOCK, *, needs_policy: bool = True
) -> Output:
    """The output of the network for each observation (float32[N, *observation_shape]).

    The network may be on another device; the output is on the device of the observations.

    Args:
        rows: rows in one forward pass on the CPU. Equal numbers give equal results, whatever the other observations.
        needs_policy: whether the logits of a policy head are wanted too.
    """
    size = len(observations)
    if size == 0:
        return Output(observations.new_zeros(0))
    device = next(network.parameters(), observations).device
    rows = rows if device.type == CPU else EVALUATION_BLOCK_ON_GPU
    there = observations.to(device).contiguous()
    if padding := -size % rows:
        there = torch.cat([there, there.new_zeros(padding, *there.shape[1:])])
    with arithmetic_of(network), torch.inference_mode():
        if needs_policy or not isinstance(network, ScoresActions):
            outputs = [network(block) for block in torch.split(there, rows)]
        else:
            outputs = [network.output_of(block, _no_actions(block)) for block in torch.split(there, rows)]
    # Joined outside of inference mode, so that the tensors may be changed.
    values = torch.cat([output.value for output in outputs])[:size].to(observations.device)
    if outputs[0].policy_logits is None or not needs_policy:
        return Output(values)
    return Output(values, torch.cat([output.policy_logits for output in outputs])[:size].to(observations.device))


def _no_actions(observations: Tensor) -> Tensor:
    return observations.new_zeros(len(observations), 0, dtype=torch.int64)


class ValueNetPlayer(Player):
    """Values the afterstate of every legal action and takes the best action, the lowest of equally good ones.

    Args:
        network: from float32[N, *observation_shape] to `Output`, whose value is used and whose policy is ignored.
        depth: 1 values the afterstates themselves, 2 those after the best reply, 3 those after the best reply to
            that. The whole tree is searched, a batch of positions at a time.
        temperature: 0 takes the best action; above 0 an action is drawn with probability proportional to
            exp(value / temperature).
        outcome: what the network predicts, a name in `selfplay.games.outcomes.OUTCOMES`; it also gives the values of
            terminal afterstates.

    Raises:
        SettingError: a depth out of range, a negative temperature, or a network that does not return `Output`.
    """

    def __init__(
        self,
        game: Game,
        network: nn.Module,
        depth: int = 1,
        temperature: float = 0.0,
        name: str = "value net",
        outcome: str = "return",
    ) -> None:
        if not 1 <= depth <= MAX_DEPTH:
            raise SettingError(f"depth={depth}: a network searches 1 to {MAX_DEPTH} plies ahead")
        if temperature < 0:
            raise SettingError(f"temperature={temperature}: must be at least 0")
        self.game, self.depth, self.temperature, self.name = game, depth, temperature, name
        self.network, self.outcome = network.eval(), outcome
        self._ends = OUTCOMES[outcome](game)
        self.points_per_value = self._ends.points_per_value
        check_output(network, game.observation_shape, game.num_distinct_actions, f"the network of {name}")

    def action_values(self, state: State) -> Tensor:
        """float32[B, A], roughly in [-1, 1]: the value of each action to the player to move; nan where illegal.

        Actions that end the match have their exact value.
        """
        rows, inverse = distinct_positions(state.position)
        return self._action_values(state.select(rows), self.depth)[inverse]

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        return ActionValues(self.action_values(state), points_per_value=self.points_per_value)

    def predicted_outcomes(self, state: State) -> Tensor:
        """The same as `action_values`, because the network predicts outcomes."""
        return self.action_values(state)

    def act(self, state: State, draws: Draws) -> Tensor:
        if self.temperature > 0:
            return sample_actions(self.policy(state), draws.uniforms(Purpose.SAMPLED_ACTION))
        return greedy_actions(self.action_values(state))

    def policy(self, state: State) -> Tensor:
        values = self.action_values(state)
        mask = self.game.legal_action_mask(state)
        if self.temperature == 0:
            return one_hot_policy(greedy_actions(values), mask)
        logits = values.to(torch.float64).masked_fill(~mask, -torch.inf) / self.temperature
        return torch.softmax(logits, dim=1).nan_to_num(nan=0.0)

    def move_to(self, device: str) -> None:
        self.network.to(device)

    def _action_values(self, state: State, depth: int) -> Tensor:
        mask = self.game.legal_action_mask(state)
        rows, actions = mask.nonzero(as_tuple=True)
        afterstates = self.game.step_unchecked(state.select(rows), actions)
        values = torch.full(mask.shape, torch.nan)
        first_rows, inverse = distinct_positions(afterstates.position)
        found = self._afterstate_values(afterstates.select(first_rows), depth)[inverse]
        moves_again = afterstates.current_player == state.current_player[rows]
        values[rows, actions] = torch.where(moves_again, -found, found) + 0.0  # -0.0 becomes 0.0
        return values

    def _afterstate_values(self, state: State, depth: int) -> Tensor:
        """float32[N]: the value of each position to the player who is not to move."""
        values = torch.empty(state.batch_size)
        over = state.terminated
        values[over] = outcome_of_other(self.game, state, self._ends)[over]
        if depth == 1:
            unfinished = self.game.observe(state.select(~over))
            values[~over] = evaluate_output(self.network, unfinished, needs_policy=False).value
        else:
            for rows in torch.split((~over).nonzero()[:, 0], TREES_AT_ONCE):
                values[rows] = -best_values(self._action_values(state.select(rows), depth - 1))
        return values


def best_values(values: Tensor) -> Tensor:
    """float32[B]: the largest value of each row of `values` (float32[B, A], nan where illegal)."""
    return values.nan_to_num(nan=-torch.inf).amax(dim=1)


def greedy_actions(values: Tensor) -> Tensor:
    """int64[B]: the action of the largest of `values` (float32[B, A], nan where illegal), the lowest of equal ones."""
    return values.nan_to_num(nan=-torch.inf).argmax(dim=1)
