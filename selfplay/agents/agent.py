"""A learned agent: the network of a level as a player, as an evaluation of searches and as an evaluator of tree search.

agent = Agent.load(Path("outputs/othello/level_10/agent.safetensors"))
agent.player(depth=2)
agent.evaluation()
agent.evaluator()
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from torch import nn

from selfplay.agents.checkpoints import Checkpoint, load_checkpoint, read_metadata
from selfplay.agents.network_evaluator import NetworkEvaluator, SymmetricNetwork
from selfplay.architectures import check_output
from selfplay.architectures.capabilities import CompiledValues, FeatureWeights
from selfplay.errors import SettingError
from selfplay.games import Game, make_game
from selfplay.games.outcomes import OUTCOMES, EndValues
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.search.evaluation import Evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.mcts.evaluator import PRIOR_TEMPERATURE, AfterstateEvaluator, BatchEvaluator, CompiledEvaluator
from selfplay.search.searcher import Searcher, SearchParameters

POINTS_IN_A_WIN = 1000
"""The value of a win, in points at the end of a match, for agents that value positions by features."""


@dataclass(eq=False, repr=False)
class Agent:
    """A learned agent."""

    checkpoint: Checkpoint
    """Its network, with the metadata of its file; of these only the outcome is needed if it has no file."""
    game: Game
    name: str
    """The name of its players, such as "level 3"."""
    path: Path | None = None
    """Its file, agent.safetensors; None: it has no file yet."""

    @classmethod
    def load(cls, path: Path, game: Game | None = None, name: str | None = None) -> "Agent":
        """The agent in a file.

        Args:
            game: the game that it must play; None: the game named in the file.
            name: None: the name of the file.

        Raises InvalidFileError if the file is missing, broken or belongs to another game.
        """
        if game is None:
            game = make_game(read_metadata(path)["game"])
        return cls(load_checkpoint(path, game), game, name or path.name, path)

    def with_present_weights(self) -> "Agent":
        """The same agent after its weights have changed: compiled values keep those with which they are first used."""
        return replace(self)

    @property
    def network(self) -> nn.Module:
        """In evaluation mode; see `selfplay.architectures`."""
        return self.checkpoint.network

    def player(self, depth: int = 1, temperature: float = 0.0) -> ValueNetPlayer | SearchPlayer:
        """The agent as a player that looks `depth` plies ahead.

        If compiled searches can compute the values of its network, NegaScout searches to any depth; otherwise the whole
        tree is searched, up to 3 plies. Raises SettingError if the depth or the temperature is out of range.
        """
        if self._compiled_values is None or temperature > 0:
            return ValueNetPlayer(self.game, self.network, depth, temperature, self.name, self._outcome)
        # A table does not help a search of depth 1, and without one several threads may share the player.
        parameters = SearchParameters() if depth > 1 else SearchParameters(ordered=False, table_bits=0)
        searcher = Searcher(self.game, self._compiled_values, parameters=parameters)
        return SearchPlayer(searcher, depth, name=self.name)

    def evaluation(self) -> Evaluation | None:
        """Its values for compiled searches: by features, or by its whole network; None if these can compute neither."""
        if isinstance(self.network, FeatureWeights):
            return self._feature_evaluation(self.network.feature_weights())
        return self._compiled_values

    def evaluator(
        self, prior_temperature: float | None = None, *, symmetries: bool = False
    ) -> BatchEvaluator | CompiledEvaluator:
        """Its values and priors for tree search, compiled if its values can be.

        Args:
            prior_temperature: of the priors of a network without a policy head; None: PRIOR_TEMPERATURE.
            symmetries: whether to evaluate all images of a position under the symmetries of the game, and to take the
                mean (`SymmetricNetwork`); not compiled.

        Raises SettingError if the temperature is out of range, or is given for a network with a policy head.
        """
        temperature = PRIOR_TEMPERATURE if prior_temperature is None else prior_temperature
        if not symmetries and self._compiled_values is not None:
            return AfterstateEvaluator(self._compiled_values, self._ends, temperature)
        network = SymmetricNetwork(self.network, self.game) if symmetries else self.network
        sizes = self.game.observation_shape, self.game.num_distinct_actions
        if check_output(network, *sizes, f"the network of {self.name}").policy_logits is None:
            return NetworkEvaluator(self.game, network, self._outcome, temperature, self.name)
        if prior_temperature is not None:
            raise SettingError(
                f"prior_temperature={prior_temperature}: {self.name} has a policy head, whose priors have none"
            )
        return NetworkEvaluator(self.game, network, self._outcome, None, self.name)

    def policy(self, *, symmetries: bool = False) -> NetworkEvaluator:
        """Its policy head; `symmetries` as in `evaluator`. Raises SettingError if it has none."""
        evaluator = self.evaluator(symmetries=symmetries)
        if not isinstance(evaluator, NetworkEvaluator) or evaluator.temperature is not None:
            raise SettingError(f"{self.name} has no policy head; write {self.name.replace(' ', ':')}")
        return evaluator

    @property
    def _outcome(self) -> str:
        """What the network predicts, a name in `selfplay.games.outcomes.OUTCOMES`."""
        return str(self.checkpoint.metadata["outcome"])

    @property
    def _ends(self) -> EndValues:
        return OUTCOMES[self._outcome](self.game)

    @cached_property
    def _compiled_values(self) -> Evaluation | None:
        """The values of its whole network, as compiled searches compute them; None if they cannot."""
        if not isinstance(self.network, CompiledValues):
            return None
        return self.network.evaluation(self.name, self.game, *self._ends)

    def _feature_evaluation(self, weights: dict[str, float]) -> FeatureEvaluation:
        """Unfinished positions have the value that the network gives them.

        The value of a win is the smallest power of ten above the values of all unfinished positions, so a search
        prefers a win to any unfinished position. Among won matches it prefers those with more points.
        """
        # No feature exceeds the number of squares: features count squares, and only few squares are counted twice.
        largest = (self.game.num_squares or 0) * sum(map(abs, weights.values()))
        win = 10.0 ** max(0, math.floor(math.log10(largest)) + 1) if largest > 0 else 1.0
        return FeatureEvaluation(win, win / POINTS_IN_A_WIN, weights, game=self.game.name, name=self.name)
