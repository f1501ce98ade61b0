"""The settings of a run: conf/config.yaml and its groups, as checked dataclasses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from selfplay.checks import count, one_in, one_of, within
from selfplay.compute.devices import CUDA, NUMERICS, PORTABLE
from selfplay.dataset.formats import DATASET_FORMATS
from selfplay.dataset.target_rules import TARGET_RULES
from selfplay.errors import SettingError
from selfplay.executors import ExecutorOptions
from selfplay.games.outcomes import OUTCOMES
from selfplay.installation import require_package
from selfplay.named_players.names import parse_name
from selfplay.runs.manifest import RUN
from selfplay.settings.common import CommonSettings, PlayerSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.fields import EACH_COMMAND, PATH, PLAYER_NAME, read_by, rule_has
from selfplay.settings.overrides import list_of_overrides, overrides_of
from selfplay.settings.sections import ComparisonSettings, DatasetSettings, ExpertSettings, TreeSearchSettings
from selfplay.training.parameters import OPTIMIZERS, LossWeights, TemporalDifferences, Training

PLAYING = read_by("generation", "training")
"""Metadata of a field about the matches that are learned from. With learning=td the training stage plays them."""


@dataclass
class Settings(CommonSettings):
    """All settings of a run."""

    recipe: str = field(default="default", metadata=read_by(RUN))
    """The recipe that the settings come from (conf/recipe/)."""
    architecture: dict[str, Any] = field(default_factory=dict, metadata=read_by("training"))
    """The network's name and its options (conf/architecture/)."""
    player: PlayerSettings = field(default_factory=PlayerSettings, metadata=read_by("generation", "comparison"))
    executor: ExecutorOptions = field(default_factory=ExecutorOptions)
    numerics: str = field(default=PORTABLE, metadata=read_by("training") | one_of(*NUMERICS))
    """How networks compute on the CPU. portable: every processor gives the same bytes, with any number of threads;
    native: as torch does, which is faster and may differ in the last digits between processors."""
    learning: str = field(default="dataset", metadata=read_by("training") | one_of("dataset", "td"))
    """dataset: a level is fitted to the datasets of the levels before it; td: it learns from each match that it plays
    against itself (temporal-difference learning), with tables of patterns (architecture=ntuple) and no datasets."""
    training: Training = field(default_factory=Training, metadata=read_by("training"))
    td: TemporalDifferences = field(default_factory=TemporalDifferences, metadata=read_by("training"))
    expert: ExpertSettings = field(default_factory=ExpertSettings, metadata=read_by("training"))
    mcts: TreeSearchSettings = field(default_factory=TreeSearchSettings, metadata=read_by("generation"))
    loss: LossWeights = field(default_factory=LossWeights, metadata=read_by("training"))
    dataset: DatasetSettings = field(default_factory=DatasetSettings)
    comparison: ComparisonSettings = field(default_factory=ComparisonSettings, metadata=read_by("comparison"))
    level: int | None = field(default=None, metadata=count(0))
    """The level that a single stage works on; null: the newest."""
    agent_file: str | None = field(default=None, metadata=PATH)
    """For generating the matches of one level: the agent.safetensors that plays, instead of that of the level."""
    opponent: str | None = field(default=None, metadata=PLAYER_NAME)
    """For generating the matches of one level: the player that it plays against in all of them; null: `opponents`."""
    dataset_file: str | None = field(default=None, metadata=PATH)
    """For training one level: the dataset, instead of that of the level before it."""
    start_file: str | None = field(default=None, metadata=PATH)
    """For training one level: the agent.safetensors whose weights training starts from; null: `training.start`."""
    output_dir: str | None = field(default=None, metadata=PATH)
    """For generating or training one level: the folder of its files; null: the folder of the level in run_dir."""
    levels: int = field(default=10, metadata=read_by(RUN) | count(1))
    """Number of levels to train."""
    matches: int = field(default=60000, metadata=PLAYING | count(2))
    """Matches in each level's dataset, or, with learning=td, that it learns from while it plays them."""
    gamma: float = field(default=0.95, metadata=PLAYING | within(0, 1))
    """Discount of the return for each further move of the same player."""
    epsilons: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.3], metadata=PLAYING | within(0, 1))
    """Exploration rates by ply in the matches that are learned from; the last rate is used for all later plies."""
    opening_plies: int = field(default=0, metadata=PLAYING | count(0))
    """The matches that are learned from begin with 0 to this number of random plies, the number drawn for each match.
    Nothing is learned from the positions before these plies."""
    self_play: str | None = field(default=None, metadata=PLAYING | PLAYER_NAME)
    """The player by which levels play the matches that they learn from, such as search:negascout?depth=5&endgame=14.
    A search has the values of the level itself, and so has mcts:itself, unless the name sets another evaluation. null:
    as `player` says; with targets=search, as `mcts` says."""
    self_play_from_level: int = field(default=1, metadata=PLAYING | count(1))
    """The first level that plays as `self_play` says. Levels before it play as `player` says, which is faster, so they
    learn from more matches in the same time."""
    opponents: str = field(default="self", metadata=read_by("generation") | one_of("self", "pool"))
    """self: a level plays against itself; pool: half of its matches are against earlier levels, level 0 included."""
    viewpoints: str = field(default="both", metadata=read_by("generation") | one_of("both", "agent"))
    """both: the moves of both players become rows; agent: only those of one player, which swaps seats every match."""
    outcome: str = field(default="return", metadata=PLAYING | one_in(OUTCOMES))
    """What is learned: return (won 1, drawn 0, lost -1), or disc_difference (lead at the end / most points)."""
    targets: str = field(default="full", metadata=read_by("generation") | one_in(TARGET_RULES))
    """The rule that computes the targets from the matches: full, watkins, best_response or search
    (selfplay/dataset/target_rules.py explains them), or module:function."""
    exact_from: int | None = field(default=None, metadata=PLAYING | count(1))
    """Positions with at most this number of empty squares have as targets the values that the exact solver of the game
    finds. For earlier positions the match ends with the first of them. null: outcomes of matches only."""
    value_share: float = field(default=0.0, metadata=read_by("generation") | within(0, 1))
    """How much of a target is the value that a search finds in the position, from 0 to 1; the rest is the target of
    `targets`. The searches are those by which levels play (`self_play`, or tree search with targets=search). With
    learning=td, td.trace_decay says it instead."""
    gate: float | None = field(default=None, metadata=read_by("training") | within(0, 1))
    """The share (wins + draws / 2) of `gate_matches` that a new level must score against the level before it. If it
    scores less, the weights of the level before are kept. null: every new level is accepted. Level 1 is always
    accepted."""
    gate_matches: int = field(default=200, metadata=read_by("training") | count(2))
    """Number of matches of the gate."""
    logger: str = field(default="none", metadata=read_by("comparison") | EACH_COMMAND | one_of("none", "tensorboard"))
    """tensorboard: also write losses, comparisons and figures to RUN_DIR/tensorboard/; none: do not."""
    force: bool = False
    """Replace files that were made with other settings."""
    fresh: bool = False
    """Begin the run anew: take over none of its recorded settings, and delete its levels if they were made with
    others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.opponent is not None and self.opponents != "self":
            raise SettingError(f"opponent={self.opponent} and opponents={self.opponents}: set only one of them")
        if (rows := self.dataset.buffer_rows) is not None:
            cause = f"dataset.buffer_rows={rows}, which reads rows in parts"
            if not DATASET_FORMATS[self.dataset.format].has_parts:
                self._require(cause, {"dataset.format": "parquet"})
            self._require(cause, {"training.merge": False})
        if self.device == CUDA and OPTIMIZERS[self.training.optimizer.name].runs_on_cpu_only:
            name = self.training.optimizer.name
            raise SettingError(f"training.optimizer.name={name} runs on the CPU only; set device=cpu or auto")
        alone = {"opponents": "self", "opponent": None, "viewpoints": "both"}
        if self.learns_online:
            self._require("learning=td, with which a level only plays against itself", alone)
            self._require("learning=td", {"targets": "full", "gate": None})
            self._require("learning=td, where td.trace_decay says how much values count", {"value_share": 0})
        elif self.expert.player is not None:
            self._require(f"learning={self.learning}, with which no search teaches", {"expert.player": None})
        self.expert.check_player()
        if self.self_play is not None and "time_limit" in parse_name(self.self_play).given:
            raise SettingError(f"self_play={self.self_play}: cannot have a time_limit, which no run repeats")
        targets = f"targets={self.targets}"
        if self.has_policies:
            self.mcts.check_constants()
            self._require(f"{targets}, with which a level only plays against itself", alone)
            self._require(f"{targets}, with which levels play by tree search (mcts)", {"self_play": None})
            self._require(f"{targets}, with which rows are held in memory", {"dataset.buffer_rows": None})
        if not rule_has(self.targets, "uses_exact_values"):
            self._require(f"{targets}, which does not use exact values", {"exact_from": None})
        if self.value_share > 0 and not self.has_policies:
            self._require(f"value_share={self.value_share:g}, whose values are not discounted", {"gamma": 1})
            self._require("value_share, with which a level only plays against itself", alone)
        if self.numerics == PORTABLE:
            self._require("numerics=portable; set numerics=native instead", {"training.precision": "float32"})
        if self.logger == "tensorboard":
            require_package("logger=tensorboard", "tensorboard")

    @property
    def has_policies(self) -> bool:
        """Whether datasets have policies, and levels play their matches with tree search."""
        return rule_has(self.targets, "gives_policies")

    @property
    def finds_values(self) -> bool:
        """Whether levels learn the values that the searches find by which they play their matches."""
        if self.learns_online:
            return self.self_play is not None
        return not self.has_policies and self.value_share > 0

    def for_level(self, level: int) -> "Settings":
        """The settings with which a level plays the matches that are learned from."""
        return self if level >= self.self_play_from_level else replace(self, self_play=None)

    @property
    def learns_online(self) -> bool:
        """Whether levels learn from matches while they play them, without datasets."""
        return self.learning == "td"

    def is_taught(self, level: int) -> bool:
        """Whether the level learns from a search (`expert`)."""
        return self.expert.player is not None and level >= self.expert.from_level

    def _require(self, cause: str, only: Mapping[str, Any]) -> None:
        """Raise SettingError if a setting does not have the only value that the cause allows."""
        for name, needed in only.items():
            if (value := attrgetter(name)(self)) != needed:
                given, wanted = (json.dumps(one).strip('"') for one in (value, needed))
                raise SettingError(f"{name}={given}: cannot be combined with {cause}; set {name}={wanted}")


def compose_settings(overrides: Sequence[str] = (), **settings: Any) -> Settings:
    """The settings of conf/ with these changes.

    Args:
        overrides: as on the command line, such as ["recipe=article", "training.epochs=3"].
        settings: by their names, such as `recipe="article", training={"epochs": 3}`.

    Raises SettingError.

    Examples:
        >>> settings = selfplay.compose_settings(recipe="article", levels=3)
        >>> settings.levels, settings.epsilons
        (3, [0.5, 0.5, 0.1])
        >>> settings == selfplay.compose_settings(["recipe=article", "levels=3"])
        True
    """
    return compose_settings_of(Settings, "config", [*list_of_overrides(overrides, Settings), *overrides_of(settings)])
