"""Learning values: a network is fitted to the outcomes of the matches of the level before it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from selfplay.agents.agent import Agent
from selfplay.architectures.capabilities import CompiledValues
from selfplay.checks import IN_MATCHES, IN_TRAINING, PLAYER_NAME, count, one_in, one_of, within
from selfplay.compute.portable import is_portable
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.rows import Rows, concatenate
from selfplay.dataset.target_rules import TARGET_RULES, PlayedMatches
from selfplay.errors import SettingError, shortened
from selfplay.games import Game
from selfplay.games.outcomes import Outcome
from selfplay.games.state import MatchRecord
from selfplay.learners.gate import after_gate
from selfplay.learners.learner import ALONE, Inputs, Learner, LevelInputs, Resources, TrainedLevel
from selfplay.learners.pool import against_pool
from selfplay.matches.arena import Players
from selfplay.matches.series import Series
from selfplay.players.capabilities import Searches, capability
from selfplay.players.exploring import exploring
from selfplay.players.player import Player, RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.search.exact_outcomes import require_exact_outcomes
from selfplay.training.fitting import fit_network
from selfplay.training.parameters import EQUAL_WEIGHTS, LossWeights, Training
from selfplay.training.rows import TrainingRows, holds_out_some

RecordedMatches = tuple[MatchRecord, Players]
"""Matches between the same two players, and these players, the level itself first."""


@dataclass(frozen=True)
class FitsRows(Learner, Training):
    """What is common to learners that fit a network to the rows of matches."""

    def inputs(self, level: int, first_level: int = 1) -> Inputs:
        return Inputs(range(level - 1, level), start="fresh" if self.start == "fresh" else "weights")

    @property
    def loss_weights(self) -> LossWeights:
        """The weights of the parts of the loss."""
        return EQUAL_WEIGHTS

    def recorded(self) -> dict[str, Any]:
        return Training.recorded(self)

    def less_memory(self) -> list[str]:
        return ["learner.merge=false"] if self.merge else []

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        if self.precision != "float32" and is_portable(agent.network):
            raise SettingError(
                f"precision={self.precision}: cannot be combined with numerics=portable; set numerics=native, or "
                "precision=float32"
            )

    def check_matches(self, matches: int, seed: int, level: int) -> None:
        key = stream_key(seed, level, Activity.TRAINING)
        if not holds_out_some(len(self.inputs(level).datasets) * matches, self.validation_fraction, key):
            raise SettingError(
                f"{matches} matches are too few to hold out a share of learner.validation_fraction="
                f"{self.validation_fraction:g} in level {level}; give more"
            )

    def check_processes(self, count: int) -> None:
        """Several processes can train values together."""

    def steps(self, game: Game, matches: int) -> tuple[int, str]:
        return self.epochs, "epochs"

    def train(self, inputs: LevelInputs, rows: Iterable[Rows] = ()) -> TrainedLevel:
        network, resources = inputs.start.checkpoint.network, inputs.resources
        held = TrainingRows(inputs.game, rows, resources.folder)
        epochs = fit_network(
            network,
            held,
            self,
            seed=inputs.seed,
            level=inputs.level,
            loss=self.loss_weights,
            device=resources.device,
            processes=resources.processes,
            on_epoch=resources.on_epoch,
        )
        return TrainedLevel(network, epochs, held.num_rows)


@dataclass(frozen=True)
class FitsPlayedRows(FitsRows):
    """What is common to learners that fit a network to the rows of matches that earlier levels played."""

    gamma: float = field(default=0.95, metadata=IN_MATCHES | within(0, 1))
    """Discount of the return for each further move of the same player."""
    opening_plies: int = field(default=0, metadata=IN_MATCHES | count(0))
    """Matches begin with 0 to this number of random plies, from which nothing is learned."""
    exact_from: int | None = field(default=None, metadata=IN_MATCHES | count(1))
    """Positions with at most this number of empty squares learn exact values; for earlier ones the match ends with the
    first of them. null: outcomes only."""
    value_share: float = field(default=0.0, metadata=IN_MATCHES | within(0, 1))
    """How much of a target is the value that a search finds; the rest is the outcome."""
    replay: int = field(default=0, metadata=IN_TRAINING | count(0))
    """Number of earlier levels whose matches are also trained on."""
    gate: float | None = field(default=None, metadata=IN_TRAINING | within(0, 1))
    """The share (wins + draws / 2) of `gate_matches` that a new level must score against the level before; otherwise it
    gets the weights of that level. null: no gate."""
    gate_matches: int = field(default=200, metadata=IN_TRAINING | count(2))
    """Number of matches of the gate."""

    def inputs(self, level: int, first_level: int = 1) -> Inputs:
        return replace(
            super().inputs(level, first_level),
            datasets=range(max(0, level - 1 - self.replay), level),
            rivals=range(0) if self.gate is None else range(max(1, level - 1), level),
        )

    def advice(self) -> list[str]:
        ways = [] if self.symmetries else ["learner.symmetries=true, to train on every symmetric image of a position"]
        return ways if self.replay else [*ways, "learner.replay=5, to train on the matches of earlier levels too"]

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        require_matches(agent.game, self.outcome_of(), self.opening_plies, self.exact_from)

    def exploring(self, game: Game, player: Player) -> Player:
        """A player as it plays the matches that are learned from."""
        raise NotImplementedError

    def rule_of_targets(self) -> tuple[Any, str]:
        """The rule that computes the targets, and whose moves become rows: both or agent."""
        raise NotImplementedError

    def played(self, inputs: LevelInputs, players: Players, matches: range) -> Iterator[list[RecordedMatches]]:
        """The matches of two players with these numbers, a batch at a time."""
        resources = inputs.resources
        series = Series(matches, inputs.key, batch_size=resources.batch_size, device=resources.device)
        for record in series.records(inputs.game, players):
            # The result of a forfeited match says nothing about its positions.
            if not record.forfeits:
                yield [(record, players)]

    def rows_of(
        self, inputs: LevelInputs, played: Iterable[list[RecordedMatches]], opening_plies: int
    ) -> Iterator[Rows]:
        """The rows of each batch of matches of a level, which begin with 0 to this number of random plies, ordered by
        match and ply."""
        rule, viewpoints = self.rule_of_targets()
        valued = self.gamma, self.outcome_of(), self.value_share, self.exact_from, opening_plies
        for batch in played:
            matches = (PlayedMatches(inputs.game, record, players, inputs.key, *valued) for record, players in batch)
            parts = [match_rows(one, rule, viewpoints) for one in matches]
            yield parts[0] if len(parts) == 1 else concatenate(parts).in_order()

    def train(self, inputs: LevelInputs, rows: Iterable[Rows] = ()) -> TrainedLevel:
        trained, resources = super().train(inputs, rows), inputs.resources
        if self.gate is None or inputs.level == 1 or resources.processes.rank > 0:
            return trained
        return after_gate(inputs, trained, partial(self.player, resources=resources), self.gate, self.gate_matches)


@dataclass(frozen=True)
class Values(FitsPlayedRows):
    """Learns how good the position after each move is: the discounted outcome, by a rule of targets."""

    epsilons: list[float] = field(default_factory=[0.5, 0.5, 0.3].copy, metadata=IN_MATCHES | within(0, 1))
    """Exploration rates by ply; the last is for all later plies."""
    targets: str = field(default="full", metadata=IN_MATCHES | one_in(TARGET_RULES))
    """The rule that makes targets of matches: full, watkins or best_response (selfplay/dataset/target_rules.py), or
    module:function."""
    self_play: str | None = field(default=None, metadata=IN_MATCHES | PLAYER_NAME)
    """The player of the matches, such as search:negascout?depth=5&endgame=14, with the values of the level unless its
    name sets an evaluation. null: as `player` says."""
    opponents: str = field(default="self", metadata=IN_MATCHES | one_of("self", "pool"))
    """self: a level plays against itself; pool: half of its matches are against earlier levels, level 0 included."""
    viewpoints: str = field(default="both", metadata=IN_MATCHES | one_of("both", "agent"))
    """both: the moves of both players become rows; agent: only those of one player."""

    def __post_init__(self) -> None:
        super().__post_init__()
        targets = TARGET_RULES[self.targets]
        if getattr(targets, "gives_policies", False):
            raise SettingError(f"targets={self.targets}: gives policies; use the learner `policy`")
        if self.exact_from is not None and not getattr(targets, "uses_exact_values", False):
            raise SettingError(f"exact_from={self.exact_from}: targets={self.targets} does not use exact values")
        if self.value_share > 0:
            what = f"value_share={self.value_share:g}"
            if self.gamma != 1:
                raise SettingError(
                    f"gamma={self.gamma:g}: cannot be combined with {what}, whose values are not "
                    "discounted; set gamma=1"
                )
            if (self.opponents, self.viewpoints) != ("self", "both"):
                raise SettingError(f"{what}: a level only plays against itself; set opponents=self viewpoints=both")

    def advice(self) -> list[str]:
        ways = super().advice()
        if self.viewpoints == "agent":
            ways.append("learner.viewpoints=both, to train on the moves of both players")
        return ways

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        # Other networks play one ply ahead in every game for which they can be built.
        is_searched = self.self_play is not None or resources.depth > 1 or self.value_share > 0
        if is_searched or isinstance(agent.checkpoint.network, CompiledValues):
            player = self.player(agent, resources)
            if self.value_share > 0:
                require_searches(player, self.self_play)

    def inputs(self, level: int, first_level: int = 1) -> Inputs:
        opponents = range(1, level - 1) if self.opponents == "pool" else range(0)
        return replace(super().inputs(level, first_level), opponents=opponents)

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        if self.self_play is None:
            return self.exploring(agent.game, resources.choosing(agent))
        return self.exploring(agent.game, resources.make_player(self.self_play, agent))

    def exploring(self, game: Game, player: Player) -> Player:
        return exploring(game, player, self.epsilons, self.opening_plies, self.value_share > 0)

    def rule_of_targets(self) -> tuple[Any, str]:
        return TARGET_RULES[self.targets], self.viewpoints

    def generate(self, inputs: LevelInputs, matches: range) -> Iterable[Rows]:
        game, agent, level, resources = inputs.game, inputs.agent, inputs.level, inputs.resources

        def player_of(number: int) -> Player:
            if number == 0:
                return RandomPlayer(game)
            return self.player(agent if number == level and agent else resources.agent_of(number), resources)

        itself = RandomPlayer(game) if agent is None else self.player(agent, resources)
        if level > 0 and self.opponents == "pool":
            played = against_pool(game, player_of, level, matches, inputs.key, resources)
        else:
            named = inputs.opponent
            other = itself if named is None else self.exploring(game, resources.make_player(named, None))
            played = self.played(inputs, (itself, other), matches)
        # Level 0 plays at random to the end.
        return self.rows_of(inputs, played, self.opening_plies if agent is not None else 0)


def require_matches(game: Game, outcome: Outcome, opening_plies: int, exact_from: int | None) -> None:
    """Raise SettingError for openings longer than a match, or exact values that no solver finds."""
    if opening_plies > game.max_game_length:
        most = game.max_game_length
        raise SettingError(f"opening_plies={opening_plies}: matches of {game.name} have at most {most} plies")
    if exact_from is not None:
        require_exact_outcomes(game, outcome, exact_from)


def require_searches(player: Player, name: str | None) -> None:
    """Raise SettingError unless the searches of the player `self_play` find values on the scale of the outcome."""
    searching, text = player.unwrapped, shortened(name or "null")
    if capability(player, Searches) is None:
        raise SettingError(
            f"self_play={text}: finds no values to learn from; set mcts:..., or search:... with architecture=ntuple"
        )
    if isinstance(searching, SearchPlayer) and not searching.searcher.evaluation.predicts_outcome:
        evaluation = searching.searcher.evaluation.name
        raise SettingError(f"self_play={text}: evaluation={evaluation} does not predict outcomes; set that of a level")
