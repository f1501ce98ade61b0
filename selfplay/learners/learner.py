"""The interface of ways of learning.

A run goes from level to level. Level 0 plays at random; level L plays matches, and learning from them gives level
L + 1. A learner says how: which player plays the matches of a level, the rows that they give, and how a network learns
from them. It holds its parameters alone; what it works on are arguments.

    learner = Values(gamma=0.9, epochs=3)
    rows = learner.generate(LevelInputs(game, agent, level=1), range(20_000))
    trained = learner.train(LevelInputs(game, agent, level=2), rows)
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from inspect import get_annotations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from torch import nn

from selfplay.agents.agent import Agent
from selfplay.checks import PLAYER_NAME, check_parameters, one_in
from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.outcomes import OUTCOMES, Outcome
from selfplay.players.player import Player
from selfplay.training.epochs import Epoch
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup


def _no_names(name: str, itself: Agent | None = None) -> Player:
    """Raise SettingError: players have no names."""
    raise SettingError(f"{name}: players are not known by names here; pass Resources(make_player=...)")


def _no_levels(level: int) -> Agent:
    """Raise SettingError: there are no other levels."""
    raise SettingError(f"level {level}: the agents of other levels are not known here; pass Resources(agent_of=...)")


def _goes_on(*done: Any) -> bool:
    """Reports nothing, and does not stop."""
    return False


@dataclass(frozen=True)
class Resources:
    """What a learner uses besides its parameters; nothing here changes what it learns, except names of players."""

    make_player: Callable[[str, Agent | None], Player] = _no_names
    """(name, agent) to the player with this name, in which `itself` is the agent."""
    agent_of: Callable[[int], Agent] = _no_levels
    """(level) to the agent of an earlier level, from 1."""
    depth: int = 1
    """How many plies an agent looks ahead that plays without another player's name."""
    temperature: float = 0.0
    """The temperature of its actions."""
    first_level: int = 1
    """The first level that this learner made, of those up to the present one without another learner in between."""
    batch_size: int | None = None
    """Matches played in lockstep; None: as is usual."""
    device: str = CPU
    """That of networks: cpu or cuda."""
    processes: ProcessGroup = SINGLE_PROCESS
    """Those that train together."""
    folder: Path | None = None
    """Where temporary files of rows that are larger than memory are; None: the folder of the system for such files."""
    on_epoch: Callable[[Epoch], bool] = _goes_on
    """Called after each epoch of training; returns whether to stop."""
    on_skipped: Callable[[int, str], object] = _goes_on
    """Called for each recorded match that cannot be learned from, with its number and the reason."""
    on_step: Callable[..., bool] = _goes_on
    """Called with the number of steps done, of those that `Learner.steps` gives, and perhaps with what was measured so
    far, as in `Epoch.measured`; returns whether to stop."""

    def choosing(self, agent: Agent) -> Player:
        """The player that an agent is without exploration. Raises SettingError for a depth that it cannot search."""
        return agent.player(self.depth, self.temperature)


ALONE = Resources()
"""No other agents and no names of players."""


@dataclass(frozen=True)
class LevelInputs:
    """What a level is made from, besides the parameters of its learner and the rows."""

    game: Game
    agent: Agent | None = None
    """The agent that plays; None: level 0, which plays at random. In training, the agent whose network is trained in
    place; with fresh weights for the first level."""
    seed: int = 0
    level: int = 0
    """The number of the level that plays, or that is trained."""
    matches: int = 0
    """In training, how many matches to play, if the learner plays while it learns."""
    memory: bytes | None = None
    """In training, that of the level before, if the same learner made it."""
    opponent: str | None = None
    """The name of the player of the other seat in all matches; None: as the learner says."""
    resources: Resources = ALONE

    @property
    def key(self) -> int:
        """The stream of random numbers of the matches that the level plays."""
        return stream_key(self.seed, self.level, Activity.GENERATION)

    @property
    def start(self) -> Agent:
        """The agent whose network is trained. Raises SettingError if there is none."""
        if self.agent is None:
            raise SettingError("agent=None: training needs an agent, with fresh weights for the first level")
        return self.agent


@dataclass(frozen=True)
class Inputs:
    """What a level is made from, as its learner declares it; the program finds the files."""

    datasets: range = range(0)
    """The levels whose datasets the training uses, those before it; `generate` makes them, before the level is trained.
    None if `train` plays the matches itself."""
    opponents: range = range(0)
    """The earlier levels, from 1, that also play the matches of the newest of these datasets."""
    rivals: range = range(0)
    """The earlier levels that the training needs as agents, besides that from which it starts."""
    players: Sequence[str] = ()
    """The names of the players from whose files the training learns."""
    start: Literal["fresh", "weights", "agent"] = "weights"
    """From what the training starts. fresh: fresh weights; weights: those of the level before, fresh ones if there is
    none; agent: the level before itself, whatever its architecture is, and there must be one."""


class Source(NamedTuple):
    """The matches from which the dataset of a level is made."""

    matches: int
    """Their number."""
    files: Sequence[Path] = ()
    """The files that they are read from; none: they are played."""
    parameter: str = ""
    """The parameter of the learner that lists these files."""
    place: Callable[[int], object] = int
    """(number of a match) to where it is written: an object whose text says it."""


class TrainedLevel(NamedTuple):
    """A level that has been trained."""

    network: nn.Module
    epochs: Sequence[Epoch]
    """What was measured; one at least."""
    num_rows: int
    """Number of rows, or positions, that it has learned from."""
    memory: bytes | None = None
    """What the next level continues from besides the network, as a safetensors file; None: nothing."""
    architecture: Mapping[str, Any] | None = None
    """That of the network, if it is not that of the network from which it started."""
    counts: Mapping[str, int] = MappingProxyType({})
    """Further numbers for the manifest."""


@dataclass(frozen=True)
class Learner:
    """A way of learning. A subclass is a frozen dataclass of the parameters that it reads.

    Parameters declare what they may be with `selfplay.checks`, and their defaults are the usual values.
    """

    name: str = field(default="", kw_only=True)
    """The name by which the program finds the class; it does not change what is learned."""
    outcome: str = field(default="return", kw_only=True, metadata=one_in(OUTCOMES))
    """What is learned: return (won 1, drawn 0, lost -1), or disc_difference (lead at the end / most points)."""

    def __post_init__(self) -> None:
        """Raise SettingError for a parameter out of range, or as `check_class`."""
        self.check_class()
        check_parameters(self)

    @classmethod
    def check_class(cls) -> None:
        """Raise SettingError if the class declares parameters, but is not a dataclass itself."""
        for kind in cls.__mro__:
            if issubclass(kind, Learner) and get_annotations(kind) and "__dataclass_fields__" not in vars(kind):
                raise SettingError(f"{kind.__name__} is not a dataclass; write @dataclass(frozen=True) above its class")

    @classmethod
    def parameters(cls) -> list[str]:
        """The names of the parameters."""
        return [one.name for one in fields(cls) if one.name != "name"]

    def outcome_of(self) -> Outcome:
        """The outcome that is learned."""
        outcome: Outcome = OUTCOMES[self.outcome]
        return outcome

    def recorded(self) -> dict[str, Any]:
        """The parameters as the file of an agent has them."""
        return {name: value for name, value in asdict(self).items() if name not in ("name", "outcome")}

    def named_players(self) -> dict[str, str]:
        """The parameters that name a player, and these names."""
        naming = [one.name for one in fields(self) if PLAYER_NAME.keys() <= one.metadata.keys()]
        return {name: value for name in naming if (value := getattr(self, name))}

    def check(self, agent: Agent, resources: Resources) -> None:
        """Raise SettingError if a level could not play, or learn, with these parameters.

        `agent`: one of the game, with a network like that of the level, which need not be trained.
        """
        self.outcome_of()(agent.game)

    def check_matches(self, matches: int, seed: int, level: int) -> None:
        """Raise SettingError if the training of a level cannot use this number of matches in each of its datasets."""

    def check_processes(self, count: int) -> None:
        """Raise SettingError if this number of processes (of torchrun) cannot train a level together."""
        if count > 1:
            raise SettingError(f"learner={self.name} trains in one process; start it without torchrun")

    def advice(self) -> list[str]:
        """Parameters that would give a level more to learn from, each with its effect, as lines for people."""
        return []

    def less_memory(self) -> list[str]:
        """Parameters with which training would need less memory, as lines for people."""
        return []

    def source(self, game: Game, matches: int) -> Source:
        """The matches from which the dataset of a level is made, in a run with this number of matches.

        Raises SettingError or InvalidFileError if they come from files that are not there or not readable.
        """
        return Source(matches)

    def inputs(self, level: int, first_level: int = 1) -> Inputs:
        """What a level, from 1, is made from. By default its dataset is that of the level before it.

        `first_level`: as in `Resources`.
        """
        return Inputs(range(level - 1, level))

    def learns_policy(self) -> bool:
        """Whether levels also learn how promising each action is; if not, `train` gets rows without policies."""
        return False

    def mixed_rollouts(self) -> tuple[float, int]:
        """The share of random matches in the values of the searches that play (0 to 1; 0.0: no searches, or none), and
        the number of random matches for each position."""
        return 0.0, 1

    def unmixed(self) -> "Learner":
        """This learner without random matches in its searches, as it plays once a level is better without them."""
        return self

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        """An agent as it plays the matches that are learned from."""
        raise NotImplementedError("write the method `player`")

    def generate(self, inputs: LevelInputs, matches: range) -> Iterable[Rows]:
        """The rows of matches, in parts ordered by match and ply.

        Args:
            matches: their numbers. The rows of a match do not depend on those that are played with it.
        """
        raise NotImplementedError(
            "write the method `generate`; or, if `train` plays the matches, `inputs` that returns Inputs()"
        )

    def steps(self, game: Game, matches: int) -> tuple[int, str]:
        """How many steps `train` reports, for showing its progress, and what they are: (20, "epochs")."""
        raise NotImplementedError("write the method `steps`")

    def train(self, inputs: LevelInputs, rows: Iterable[Rows] = ()) -> TrainedLevel:
        """Train a level.

        Args:
            rows: those of its datasets, in parts; matches have different numbers.
        """
        raise NotImplementedError("write the method `train`")
