"""Fitting a network to the targets of a dataset: its first weights, the epochs, and a step on each batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from math import isfinite
from typing import Any, cast

import torch
from torch import Tensor, nn

from selfplay.agents.agent import Agent
from selfplay.architectures import Output, build_network, option_defaults, probe
from selfplay.checks import check_parameters
from selfplay.compute.devices import CPU, PORTABLE, cuda_devices_in_use
from selfplay.compute.portable import PortableArithmetic, arithmetic_of, is_portable, set_numerics
from selfplay.compute.random_numbers import Activity, Purpose, stream_key, torch_seed
from selfplay.errors import SettingError, StageError, shortened
from selfplay.games import Game, make_game
from selfplay.training.epochs import LOSS_DECIMALS, Epoch
from selfplay.training.examples import Batch, Examples
from selfplay.training.losses import Losses, cross_entropies, output_and_policies, validation_losses
from selfplay.training.optimizers import LearningRate, flattened
from selfplay.training.parameters import EQUAL_WEIGHTS, OPTIMIZERS, LossWeights, Training
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.rows import SplitRows, TrainingRows

TRAINING_LOSS = "training_loss"
"""Mean over the batches of the epoch of the weighted squared error that was minimised."""
VALIDATION_LOSS = "validation_loss"
"""Mean squared error over the held-out rows; repeated rows count each time."""


def initial_network(
    game: Game | str,
    architecture: Mapping[str, Any] | str,
    *,
    seed: int = 0,
    level: int = 1,
    numerics: str = PORTABLE,
    start: Agent | None = None,
) -> nn.Module:
    """The network with the weights that the training of a level starts from.

    Args:
        game: the game, or its name.
        architecture: its name, or a mapping of its name and its options.
        numerics: PORTABLE or NATIVE, see `selfplay.compute.portable`.
        start: the agent whose weights it gets; None: fresh ones.

    Raises SettingError for an unknown game or architecture, and StageError if the agent has another architecture.
    """
    game = make_game(game)
    if isinstance(architecture, str):
        architecture = {"name": architecture}
    elif not isinstance(architecture, Mapping):
        raise SettingError(f"architecture={shortened(architecture)}: must be a name or a mapping, such as mlp")
    key = stream_key(seed, level, Activity.TRAINING)
    arithmetic = PortableArithmetic() if numerics == PORTABLE else nullcontext()
    with seeded(torch_seed(key, Purpose.INITIAL_WEIGHTS)), arithmetic:
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions, game)
    set_numerics(network, numerics)
    if start is not None:
        theirs = start.checkpoint.metadata["architecture"]
        if _with_defaults(theirs) != _with_defaults(architecture):
            raise StageError(f"{start.path or start.name} has the architecture {theirs}, not {architecture}")
        network.load_state_dict(start.network.state_dict())
    return network


def _with_defaults(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """An architecture with all its options, including those that an older version of the program did not have."""
    return {**option_defaults(architecture["name"]), **architecture}


def fit_network(
    network: nn.Module,
    rows: TrainingRows,
    training: Training,
    *,
    seed: int = 0,
    level: int = 1,
    loss: LossWeights = EQUAL_WEIGHTS,
    device: str = CPU,
    processes: ProcessGroup = SINGLE_PROCESS,
    on_epoch: Callable[[Epoch], object] = lambda _: None,
) -> list[Epoch]:
    """Train `network` in place and give it the weights of the epoch with the lowest validation loss.

    Afterwards the network is on the CPU, in evaluation mode.

    Args:
        seed: the same seed gives the same weights, bit by bit, with the same number of processes: a portable network on
            every processor, others with the same number of threads on the same kind of processor or GPU.
        level: the level to train, from 1; the learning rate may decay from level to level.
        loss: the weights of the parts of the loss if the rows have policies.
        device: the device on which the network is trained, cpu or cuda.
        processes: the processes that train together.
        on_epoch: called after each epoch; a true result, in the first process, ends the training.

    Raises:
        StageError: there are too few matches to hold some out, or a loss is not a number.
        SettingError: a parameter is out of range.

    Examples:
        >>> record = next(play_matches(game, (player, player), range(1000), key=0))
        >>> rows = TrainingRows(game, [discounted_rows(game, record, gamma=0.9)])
        >>> losses = fit_network(network, rows, Training(epochs=1, learning_rate=0.01), seed=1)
    """
    check_parameters(training, "training.")
    check_parameters(loss, "loss.")
    key = stream_key(seed, level, Activity.TRAINING)
    network.to(device)
    split = SplitRows(rows, training, key, processes)
    rates = LearningRate(training, split.num_examples, level)
    trainer = BatchTraining(network, rows.game, training, rates, processes, loss)
    batches = split.batches(trainer.weights.device)
    epochs: list[Epoch] = []
    best_weights = trainer.weights.clone()
    # The dropout masks of the processes must differ.
    with seeded(torch_seed(key, Purpose.DROPOUT, processes.rank)):
        for _ in range(training.epochs):
            network.train()
            trained = trainer.run_epoch(batches)
            validation = validation_losses(network, split.held_out, rows.game, processes, device)
            epoch = _next_epoch(epochs, trained.total(loss), validation.total(loss))
            with arithmetic_of(network):
                parts = _parts(trained, validation, trainer.weights, training.weight_decay)
            epochs.append(epoch._replace(parts=parts))
            if epochs[-1].is_champion:
                best_weights.copy_(trainer.weights)
            if processes.broadcast(bool(on_epoch(epochs[-1]))):
                break
    trainer.weights.copy_(best_weights)
    network.to(CPU).eval()
    return epochs


def _next_epoch(earlier: Sequence[Epoch], training: float, validation: float) -> Epoch:
    epoch = len(earlier) + 1
    if not isfinite(validation):
        raise StageError(f"the loss is not a number in epoch {epoch}; set a lower learner.learning_rate")
    measured = {TRAINING_LOSS: round(training, LOSS_DECIMALS), VALIDATION_LOSS: round(validation, LOSS_DECIMALS)}
    is_champion = all(measured[VALIDATION_LOSS] < one.measured[VALIDATION_LOSS] for one in earlier)
    return Epoch(epoch, measured, is_champion)


def _parts(trained: Losses, validation: Losses, weights: Tensor, weight_decay: float) -> dict[str, float]:
    """The parts of the losses where a policy is trained.

    The losses are then the sums of their two parts, with the `LossWeights`; the weight decay is not part of them.
    """
    if trained.policy is None or validation.policy is None:
        return {}
    parts = {
        "training_value_loss": trained.value,
        "training_policy_loss": trained.policy,
        "validation_value_loss": validation.value,
        "validation_policy_loss": validation.policy,
        "decay_loss": weight_decay / 2 * float(weights.double().square().sum()),
    }
    return {name: round(part, LOSS_DECIMALS) for name, part in parts.items()}


class BatchTraining:
    """Changes the weights of a network, one epoch at a time; each process computes the gradient of its share.

    If the batches have policies, the policy of the network is trained too, in one process. Otherwise a policy head
    keeps its weights.
    """

    weights: Tensor
    """All current weights of the network; writing into the tensor changes the network."""

    def __init__(
        self,
        network: nn.Module,
        game: Game,
        training: Training,
        learning_rate: LearningRate,
        processes: ProcessGroup,
        loss: LossWeights,
    ) -> None:
        self._network, self._game, self._processes, self._loss = network, game, processes, loss
        self._learning_rate, self._steps = learning_rate, 0
        self.weights, self._gradient = flattened(network.parameters())
        make = OPTIMIZERS[training.optimizer]
        self._optimizer = make(self.weights, self._gradient, training, is_portable=is_portable(network))
        self._value: nn.Module = _ValueOf(network)
        if processes.world_size > 1:
            has_policy_head = probe(network, game.observation_shape).policy_logits is not None
            self._value = processes.data_parallel(self._value, find_unused_parameters=has_policy_head)
        # Where torch considers it safe.
        is_exact, kind = training.precision == "float32", self.weights.device.type
        self._autocast = nullcontext() if is_exact else torch.autocast(kind, torch.bfloat16)

    def run_epoch(self, batches: Iterator[Batch]) -> Losses:
        """Take the steps of one epoch, each on the next of the batches.

        Returns the means over the batches of the parts of the loss, each before its step.
        """
        total, policy_total = torch.zeros((2,), device=self.weights.device)
        policy_loss: Tensor | None = None
        for batch in islice(batches, self._learning_rate.steps_per_epoch):
            if batch.share.policies is None:
                total += self._step(batch)
            else:
                value_loss, policy_loss = self._step_with_policies(batch.share, batch.share.policies)
                total += value_loss
                policy_total += policy_loss
        steps = self._learning_rate.steps_per_epoch
        value = float(self._processes.all_reduce(total)) / steps
        return Losses(value, None if policy_loss is None else float(policy_total) / steps)

    def _step_with_policies(self, examples: Examples, policies: Tensor) -> tuple[Tensor, Tensor]:
        """Take a step; returns the mean squared error of the values, and the mean cross-entropy of the policies."""
        observations = self._game.observations_in(examples.packed)
        self._gradient.zero_()
        with arithmetic_of(self._network):
            with self._autocast:
                output, policies = output_and_policies(self._network, observations, policies)
            assert output.policy_logits is not None, "checked before the matches of level 0"
            value_loss = (examples.weights * (output.value.float() - examples.targets).square()).mean()
            policy_loss = (examples.weights * cross_entropies(output.policy_logits.float(), policies)).mean()
        self._follow(self._loss.value * value_loss + self._loss.policy * policy_loss)
        return value_loss.detach(), policy_loss.detach()

    def _step(self, batch: Batch) -> Tensor:
        """Take a step; returns this process's part of the loss of the batch."""
        observations = self._game.observations_in(batch.share.packed)
        self._gradient.zero_()
        with arithmetic_of(self._network):
            with self._autocast:
                values = self._value(observations).float()
            total = (batch.share.weights * (values - batch.share.targets).square()).sum()
        # The mean over the whole batch, times the number of processes because their gradients are averaged.
        loss: Tensor = total / (batch.size / self._processes.world_size)
        self._follow(loss)
        return loss.detach() / self._processes.world_size

    def _follow(self, loss: Tensor) -> None:
        """Take a step of the optimiser down the gradient of this loss."""
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step(self._learning_rate.at(self._steps))
        self._steps += 1


class _ValueOf(nn.Module):
    """The value alone, so that DistributedDataParallel does not wait for gradients of a policy head."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observations: Tensor) -> Tensor:
        return cast(Output, self.network(observations)).value


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator with `seed`, and restore its state afterwards."""
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        torch.manual_seed(seed)
        yield
