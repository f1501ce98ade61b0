"""Learning from recorded matches: the rows of level 1 come from files, such as those of the WTHOR database.

Later levels learn from their own matches, with another learner: from_level={2: {learner: values}}.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from selfplay.agents.agent import Agent
from selfplay.checks import IN_MATCHES, changed, count, within
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.rows import Rows
from selfplay.dataset.searched_targets import chosen_actions
from selfplay.dataset.target_rules import PlayedMatches, full
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.learners.learner import ALONE, Learner, LevelInputs, Resources, Source
from selfplay.learners.policy import Policy, require_policy_head
from selfplay.learners.values import FitsRows, require_matches
from selfplay.matches.arena import USUAL_BATCH_SIZE
from selfplay.players.player import Player, RandomPlayer
from selfplay.records.checked_matches import CheckedMatches, checked_matches
from selfplay.records.match_files import MatchFiles, found_files
from selfplay.training.parameters import LossWeights

MOST_WITH_POLICIES = 2048
"""Matches in a batch: the policies of many positions need much memory."""


@dataclass(frozen=True)
class Records(FitsRows):
    """Learns how good positions are from the results of recorded matches."""

    files: list[str] = field(default_factory=list, metadata=IN_MATCHES)
    """Files of matches, or patterns that name several, such as games/*.wtb."""
    gamma: float = field(default=1.0, metadata=IN_MATCHES | within(0, 1))
    """Discount of the result for each further move of the same player."""
    exact_from: int | None = field(default=None, metadata=IN_MATCHES | count(1))
    """Positions with at most this number of empty squares learn exact values; for earlier ones the match ends with the
    first of them. null: outcomes only."""
    policies: bool = field(default=False, metadata=IN_MATCHES)
    """Also learn which moves were made; needs a network with a policy head."""
    value_weight: float = changed(Policy, "value_weight", 1.0)
    """Weight of the squared error of the value in the loss, with policies."""
    policy_weight: float = changed(Policy, "policy_weight", 1.0)
    """Weight of the cross-entropy of the moves in the loss, with policies."""

    @property
    def loss_weights(self) -> LossWeights:
        return LossWeights(self.value_weight, self.policy_weight)

    def learns_policy(self) -> bool:
        return self.policies

    def check_processes(self, count: int) -> None:
        if self.policies:
            Learner.check_processes(self, count)

    def match_files(self, game: Game) -> MatchFiles:
        """The recorded matches. Raises SettingError, InvalidFileError as `source`."""
        if not self.files:
            raise SettingError("files=[]: learner=records needs files of matches, such as files=[games/*.wtb]")
        return MatchFiles(found_files(self.files), game)

    def source(self, game: Game, matches: int) -> Source:
        files = self.match_files(game)
        return Source(len(files), files.paths, "files", files.place)

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        require_matches(agent.game, self.outcome_of(), 0, self.exact_from)
        if self.policies:
            require_policy_head(agent, "policies=true")
        if not len(self.match_files(agent.game)):
            raise SettingError(f"files={','.join(self.files)}: there are no matches in these files")

    def check_matches(self, matches: int, seed: int, level: int) -> None:
        if level > 1:
            raise SettingError(
                f"learner=records: only level 1 learns from records, not level {level}; set levels=1, or "
                "from_level={2:{learner:values}} for self-play"
            )
        super().check_matches(matches, seed, level)

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        return resources.choosing(agent)

    def generate(self, inputs: LevelInputs, matches: range) -> Iterable[Rows]:
        files = self.match_files(inputs.game)
        size = inputs.resources.batch_size or USUAL_BATCH_SIZE
        if self.policies:
            size = min(size, MOST_WITH_POLICIES)
        ends = self.outcome_of()(inputs.game)
        for start in range(matches.start, min(matches.stop, len(files)), size):
            numbers = range(start, min(start + size, matches.stop, len(files)))
            moves = files.moves(numbers)
            found = checked_matches(inputs.game, moves, torch.tensor(numbers), needs_points=ends.point != 0)
            for row, reason in sorted(found.broken.items()):
                inputs.resources.on_skipped(start + row, reason)
            yield self.rows_of(inputs, found)

    def rows_of(self, inputs: LevelInputs, found: CheckedMatches) -> Rows:
        """The rows of checked matches."""
        game, outcome = inputs.game, self.outcome_of()
        ends, returns = outcome(game), found.record.states[-1].returns
        outcomes = ends.win * returns + (ends.point * found.points if ends.point else 0)
        nobody = RandomPlayer(game)
        played = PlayedMatches(
            game,
            found.record,
            (nobody, nobody),
            inputs.key,
            self.gamma,
            outcome,
            exact_from=self.exact_from,
            outcomes=outcomes,
        )
        return match_rows(played, chosen_actions if self.policies else full)
