"""Exploration in the matches that levels learn from: random actions (epsilon-greedy), and random openings."""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.capabilities import Searches
from selfplay.players.kept_searches import KeepsSearches
from selfplay.players.player import Player, PlayerWrapper, RandomPlayer, SearchedPolicies


class EpsilonGreedyPlayer(PlayerWrapper):
    """Plays a random legal action with probability epsilons[t] at ply t, and otherwise the action of `player`.

    Args:
        player: the player whose actions are taken otherwise.
        epsilons: exploration rates in [0, 1] by ply; the last one is used for all later plies.

    Raises:
        SettingError: `epsilons` is empty, or a rate is out of range.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> perfect = selfplay.make_player("perfect", game)
        >>> player = selfplay.EpsilonGreedyPlayer(game, perfect, [1.0, 0.0])  # the first ply of the match is random
        >>> selfplay.match(player, "random", matches=100).losses
        0
    """

    def __init__(self, game: Game | str, player: Player, epsilons: Sequence[float]) -> None:
        if not epsilons or not all(0 <= epsilon <= 1 for epsilon in epsilons):
            raise SettingError(f"epsilons={list(epsilons)}: must be one or more rates from 0 to 1")
        super().__init__(player, f"epsilon-greedy {player.name}" if any(epsilons) else player.name)
        self.random = RandomPlayer(game)
        self.game = self.random.game
        self.epsilons = tuple(epsilons)

    def act(self, state: State, draws: Draws) -> Tensor:
        if self._epsilon(draws) == 0:
            return self.player.act(state, draws)
        return torch.where(self.explores(draws), self.random.act(state, draws), self.player.act(state, draws))

    def policy(self, state: State) -> Tensor | None:
        """float64[B, A]: the probability of each action; the rows of finished matches are 0.

        None if the policy of the wrapped player is not known. Raises SettingError if the rate changes with the ply,
        which a position does not determine.
        """
        if (greedy := self.player.policy(state)) is None:
            return None
        epsilon = self.epsilons[0]
        if any(other != epsilon for other in self.epsilons):
            raise SettingError(f"epsilons={list(self.epsilons)} differ by ply, so positions alone have no policy")
        return epsilon * self.random.policy(state) + (1 - epsilon) * greedy

    def explores(self, draws: Draws) -> Tensor:
        return draws.uniforms(Purpose.EXPLORE) < self._epsilon(draws)

    def _epsilon(self, draws: Draws) -> float:
        return self.epsilons[min(draws.ply, len(self.epsilons) - 1)]


def opening_lengths(draws: Draws, most: int) -> Tensor:
    """int64[B]: the number of random plies with which each match begins, each from 0 to `most` equally likely."""
    lengths: Tensor = below(draws._replace(ply=0).bits(Purpose.OPENING), most + 1)
    return lengths


class OpeningPlayer(PlayerWrapper):
    """Plays random actions in the opening of each match, whose length is `opening_lengths`, and then as `player`."""

    def __init__(self, game: Game, player: Player, most_plies: int) -> None:
        super().__init__(player)
        self.game, self.random, self.most_plies = game, RandomPlayer(game), most_plies

    def act(self, state: State, draws: Draws) -> Tensor:
        actions, rows = self.random.act(state, draws), self._is_past(draws).nonzero()[:, 0]
        if len(rows):
            actions[rows] = self.player.act(state.select(rows), draws._replace(match=draws.match[rows]))
        return actions

    def searched(self, state: State, draws: Draws) -> SearchedPolicies | None:
        """As of the player inside; the policies of openings are 0 and their values nan."""
        rows = self._is_past(draws).nonzero()[:, 0]
        found = self.player.searched(state.select(rows), draws._replace(match=draws.match[rows]))
        if found is None:
            return None
        size, device = state.batch_size, state.position.device
        policy = torch.zeros(size, self.game.num_distinct_actions, dtype=torch.float64, device=device)
        value = torch.full((size,), torch.nan, dtype=torch.float64, device=device)
        policy[rows], value[rows] = found.policy, found.value
        return SearchedPolicies(policy, value)

    def explores(self, draws: Draws) -> Tensor | None:
        explored = self.player.explores(draws)
        return None if explored is None else explored & self._is_past(draws)

    def _is_past(self, draws: Draws) -> Tensor:
        """bool[B]: whether the opening of each match is over."""
        return draws.ply >= opening_lengths(draws, self.most_plies)


def with_opening(game: Game, player: Player, plies: int) -> Player:
    """The player, whose matches begin with 0 to this number of random plies."""
    return OpeningPlayer(game, player, plies) if plies else player


def exploring(game: Game, player: Player, epsilons: list[float], opening_plies: int, keeps_values: bool) -> Player:
    """The player with an opening and with exploration, by its own rates if it has some.

    `keeps_values`: whether the values that its searches find are learned.
    """
    if isinstance(player, EpsilonGreedyPlayer):
        epsilons, player = list(player.epsilons), player.player
    if keeps_values and isinstance(player, Searches):
        player = KeepsSearches(player)
    return with_opening(game, EpsilonGreedyPlayer(game, player, epsilons), opening_plies)
