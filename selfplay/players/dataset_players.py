"""The players of the matches of a dataset: the levels of a run, with exploration or with tree search."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.levels import agent_of, checkpoint_player, level_player, load_agent
from selfplay.settings.choices import rule_has
from selfplay.settings.run import Settings

# torch and numba are imported where they are used, so that a stage whose files are up to date does not wait for them.
if TYPE_CHECKING:
    from torch import nn

    from selfplay.games import Game
    from selfplay.players.mcts import MctsPlayer
    from selfplay.players.player import Player
    from selfplay.runs.checkpoints import Checkpoint

MOST_WEIGHTS = 1 << 30
"""The largest network that is trained."""


def check_new_levels(settings: Settings, game: "Game") -> None:
    """Raise SettingError if levels with these settings could not be built or could not play.

    Called before level 0 is played, because no network is built until its matches are there.
    """
    from selfplay.architectures import build_network, meta_tensors
    from selfplay.runs.checkpoints import Checkpoint

    sizes = (game.observation_shape, game.num_distinct_actions)
    count = sum(tensor.numel() for tensor in meta_tensors(settings.architecture, *sizes).values())
    if count > MOST_WEIGHTS:
        name = settings.architecture["name"]
        raise SettingError(f"architecture={name} has {count:,} weights, more than {MOST_WEIGHTS:,}")
    network = build_network(settings.architecture, *sizes).eval()
    checkpoint = Checkpoint(network, {"outcome": settings.outcome})
    if settings.has_policies:
        require_policy_head(settings, network, game)
        search_learner(settings, game, checkpoint, "level 1")
    player = checkpoint_player(checkpoint, game, settings.player.depth, settings.player.temperature, "level 1")
    if rule_has(settings.targets, "searches_ahead") and settings.rootstrap_depth > player.most_plies_ahead:
        most = f"architecture={settings.architecture['name']} searches at most {player.most_plies_ahead} plies ahead"
        raise SettingError(f"rootstrap_depth={settings.rootstrap_depth}: {most}")
    if settings.sparring_partner is not None:
        exploring_opponent(settings, game, settings.sparring_partner)


def require_policy_head(settings: Settings, network: "nn.Module", game: "Game") -> None:
    """Raise SettingError unless the network has a policy head."""
    from selfplay.architectures.output import probe

    if probe(network, game.observation_shape).policy_logits is None:
        name = settings.architecture["name"]
        raise SettingError(
            f"architecture={name} has no policy head, which targets={settings.targets} trains; "
            "set architecture=alphazero_mlp or alphazero_residual"
        )


def exploring_player(settings: Settings, game: "Game", level: int) -> "Player":
    """Level `level` as it plays the matches of its dataset, with exploration."""
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

    if level > 0 and settings.has_policies:
        return _search_learner_in(agent_of(settings.run_dir, level), settings, game, f"level {level}")
    player = level_player(settings, game, level)
    return player if level == 0 else EpsilonGreedyPlayer(game, player, settings.epsilons)


def learning_player(settings: Settings, game: "Game", checkpoint: "Checkpoint", name: str) -> "Player":
    """A trained network as it plays the matches of its dataset, with exploration."""
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

    if settings.has_policies:
        return search_learner(settings, game, checkpoint, name)
    player = checkpoint_player(checkpoint, game, settings.player.depth, settings.player.temperature, name)
    return EpsilonGreedyPlayer(game, player, settings.epsilons)


def players_of_dataset(settings: Settings, game: "Game", level: int) -> "tuple[Player, Player]":
    """The player of the matches of a dataset, and its opponent, which is the same player or the named opponent.

    Both explore, unless the opponent's name sets its own epsilon.
    """
    itself = exploring_player(settings, game, level) if settings.agent_file is None else _agent(settings, game)
    if settings.opponent is None:
        return itself, itself
    return itself, exploring_opponent(settings, game, settings.opponent)


def exploring_opponent(settings: Settings, game: "Game", name: str) -> "Player":
    """The player with this name, with the exploration of levels unless its name sets its own epsilon."""
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
    from selfplay.players.player_names import EPSILON
    from selfplay.players.registry import make_player, parse_name

    player = make_player(name, game, settings.run_dir)
    if EPSILON.name in parse_name(name, settings.run_dir).given:
        return player
    return EpsilonGreedyPlayer(game, player, settings.epsilons)


def _agent(settings: Settings, game: "Game") -> "Player":
    """The agent of `settings.agent_file`, with exploration."""
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

    path, how = Path(str(settings.agent_file)), settings.player
    if settings.has_policies:
        return _search_learner_in(path, settings, game, path.name)
    player = load_agent(path, path.name, game, depth=how.depth, temperature=how.temperature)
    return EpsilonGreedyPlayer(game, player, settings.epsilons)


def _search_learner_in(path: Path, settings: Settings, game: "Game", name: str) -> "MctsPlayer":
    from selfplay.runs.checkpoints import load_checkpoint

    return search_learner(settings, game, load_checkpoint(path, game), name)


def search_learner(settings: Settings, game: "Game", checkpoint: "Checkpoint", name: str) -> "MctsPlayer":
    """The network of a level as it plays the matches that a policy is learned from: with tree search.

    Raises SettingError if a constant of the rule is unknown or out of range, or `mcts.reuse` does not suit the rule.
    """
    from selfplay.players.network_evaluator import checkpoint_evaluator
    from selfplay.players.search_learner import SearchLearner
    from selfplay.search.mcts.rule import make_rule
    from selfplay.search.mcts.tree_search import TreeSearch

    how = settings.mcts
    evaluator = checkpoint_evaluator(checkpoint, game, name=name)
    rule = make_rule(how.rule, how.constants)
    search = TreeSearch(game, evaluator, rule, how.simulations, proves=how.proves, reuse=how.reuse)
    return SearchLearner(search, how, name)
