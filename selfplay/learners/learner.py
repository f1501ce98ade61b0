"""The interface of ways of learning.

A run goes from level to level. Level 0 plays at random; level L plays matches, and learning from them gives level
L + 1. A learner says how: which player plays the matches of a level, the rows that they give, and how a network learns
from them. It holds its parameters alone; what it works on are arguments.

    learner = Values(gamma=0.9, epochs=3)
    rows = learner.generate(game, agent, range(20_000), level=1)
    trained = learner.train([rows], start, level=2)
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

from torch import nn

from selfplay.checks import check_parameters, one_in
from selfplay.compute.devices import CPU
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.outcomes import OUTCOMES, Outcome
from selfplay.players.agent import Agent
from selfplay.players.player import Player
from selfplay.training.fitting import EpochLoss
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.rows_in_memory import TrainingRows


def _no_names(name: str, itself: Agent | None = None) -> Player:
    """Raise SettingError: players have no names."""
    raise SettingError(f"{name}: players are not known by names here; pass Resources(make_player=...)")


def _no_levels(level: int) -> Agent:
    """Raise SettingError: there are no other levels."""
    raise SettingError(f"level {level}: the agents of other levels are not known here; pass Resources(agent_of=...)")


def _nothing(done: Any) -> None:
    """Reports nothing."""


@dataclass(frozen=True)
class Resources:
    """What a learner uses besides its parameters; nothing here changes what it learns, except names of players."""

    make_player: Callable[[str, Agent | None], Player] = _no_names
    """(name, agent) to the player with this name, in which `itself` is the agent."""
    agent_of: Callable[[int], Agent] = _no_levels
    """(level) to the agent of an earlier level, from 1."""
    choosing: Callable[[Agent], Player] = Agent.player
    """(agent) to the player that it is without exploration."""
    first_level: int = 1
    """The first level that this learner made, of those up to the present one without another learner in between."""
    batch_size: int | None = None
    """Matches played in lockstep; None: as is usual."""
    device: str = CPU
    """That of networks: cpu or cuda."""
    processes: ProcessGroup = SINGLE_PROCESS
    """Those that train together."""
    on_epoch: Callable[[EpochLoss], None] = _nothing
    """Called after each epoch of training."""
    on_step: Callable[[int], None] = _nothing
    """Called with the number of steps done, of those that `Learner.steps` gives."""


ALONE = Resources()
"""No other agents and no names of players."""


class TrainedLevel(NamedTuple):
    """A level that has been trained."""

    network: nn.Module
    losses: Sequence[EpochLoss]
    num_rows: int
    """Number of rows, or positions, that it has learned from."""
    memory: bytes | None = None
    """What the next level continues from besides the network, as a safetensors file; None: nothing."""
    architecture: Mapping[str, Any] | None = None
    """That of the network, if it is not that of the network from which it started."""


@dataclass(frozen=True)
class Learner:
    """A way of learning. A subclass is a frozen dataclass of the parameters that it reads.

    Parameters declare what they may be with `selfplay.checks`, and their defaults are the usual values.
    """

    name: str = field(default="", kw_only=True)
    """The name by which the program finds the class; it does not change what is learned."""
    outcome: str = field(default="return", kw_only=True, metadata=one_in(OUTCOMES))
    """What is learned: return (won 1, drawn 0, lost -1), or disc_difference (lead at the end / most points)."""

    plays_first: ClassVar[bool] = True
    """Whether the matches of a level are played, and become rows, before the next level is trained; `generate` is not
    called otherwise, and `train` plays them."""
    keeps_network: ClassVar[bool] = False
    """Whether a level has the network of the level before, whatever the settings say; the first level then cannot be
    made in this way."""
    streams_rows: ClassVar[bool] = False
    """Whether it can be trained on rows that are read in parts (`selfplay.training.streaming`)."""
    one_process_only: ClassVar[bool] = False
    """Whether the processes of torchrun cannot train together."""

    def __post_init__(self) -> None:
        """Raise SettingError for a parameter out of range."""
        check_parameters(self)

    @classmethod
    def parameters(cls) -> list[str]:
        """The names of the parameters."""
        return [one.name for one in fields(cls) if one.name != "name"]

    @property
    def uses_start(self) -> bool:
        """Whether training starts from the weights of the level before."""
        return True

    def outcome_of(self) -> Outcome:
        """The outcome that is learned."""
        outcome: Outcome = OUTCOMES[self.outcome]
        return outcome

    def recorded(self) -> dict[str, Any]:
        """The parameters as the file of an agent has them."""
        return {name: value for name, value in asdict(self).items() if name not in ("name", "outcome")}

    def check(self, agent: Agent, resources: Resources) -> None:
        """Raise SettingError if a level could not play, or learn, with these parameters.

        `agent`: one of the game, with a network like that of the level, which need not be trained.
        """
        self.outcome_of()(agent.game)

    def advice(self) -> list[str]:
        """Parameters that would give a level more to learn from, each with its effect, as lines for people."""
        return []

    def policy_size(self, game: Game) -> int:
        """The number of entries of the policies that rows have; 0: they have none."""
        return 0

    def opponents_of(self, level: int) -> range:
        """The earlier levels, from 1, that also play the matches of a level."""
        return range(0)

    def replayed(self, level: int) -> range:
        """The levels before `level` - 1 whose rows the training of `level` also uses."""
        return range(0)

    def players(self, first_level: int) -> list[str]:
        """The names of the players from whose files training learns; `first_level` as in `Resources`."""
        return []

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        """An agent as it plays the matches that are learned from."""
        raise NotImplementedError

    def generate(
        self,
        game: Game,
        agent: Agent | None,
        matches: range,
        *,
        seed: int = 0,
        level: int = 0,
        resources: Resources = ALONE,
    ) -> Iterable[Rows]:
        """The rows of matches, in parts ordered by match and ply.

        Args:
            agent: that of the level; None: level 0, which plays at random.
            matches: their numbers. The rows of a match do not depend on those that are played with it.
        """
        raise NotImplementedError

    def steps(self, game: Game, matches: int) -> int:
        """How many steps `train` reports, for showing its progress."""
        raise NotImplementedError

    def train(
        self,
        rows: TrainingRows | Iterable[Rows],
        start: Agent,
        *,
        seed: int = 0,
        level: int = 1,
        matches: int = 0,
        memory: bytes | None = None,
        resources: Resources = ALONE,
    ) -> TrainedLevel:
        """Train a level.

        Args:
            rows: those of the level before, and of earlier ones, or parts of them; matches have different numbers.
                None if the learner does not play first.
            start: the agent whose network is trained in place; with fresh weights for the first level.
            level: that is trained, from 1.
            matches: how many to play, if the learner does not play first.
            memory: that of the level before, if the same learner made it.
        """
        raise NotImplementedError
