"""The players of the matches of a dataset: the levels of a run, with exploration or with tree search."""

from collections.abc import Sequence
from pathlib import Path

from selfplay.checks import fields_of
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.named_players.make import make_player
from selfplay.named_players.names import parse_name
from selfplay.players.agent import Agent
from selfplay.players.capabilities import Searches
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.kept_searches import KeepsSearches
from selfplay.players.mcts import MctsPlayer
from selfplay.players.openings import OpeningPlayer
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.runs.levels import agent_of_level, load_agent
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.settings.run import Settings


def players_of_dataset(settings: Settings, game: Game, level: int) -> tuple[Player, Player]:
    """The player of the matches of a dataset, and its opponent, which is the same player or the named opponent.

    Both explore, unless the opponent's name sets its own epsilon.
    """
    if settings.agent_file is None:
        itself = exploring_level(settings, game, level)
    else:
        itself = exploring_agent(settings.for_level(level), load_agent(Path(settings.agent_file), game))
    if settings.opponent is None:
        return itself, itself
    return itself, _exploring(settings, game, make_player(settings.opponent, game, settings.run_dir))


def exploring_level(settings: Settings, game: Game, level: int) -> Player:
    """Level `level` as it plays the matches of its dataset, with exploration; level 0 is the random player."""
    if level == 0:
        return RandomPlayer(game)
    return exploring_agent(settings.for_level(level), agent_of_level(settings.run_dir, level, game))


def exploring_agent(settings: Settings, agent: Agent) -> Player:
    """An agent as it plays the matches of its dataset, with exploration."""
    game = agent.game
    if settings.has_policies:
        return with_opening(settings, game, search_learner(settings, agent))
    if settings.self_play is None:
        return _exploring(settings, game, _player_of(settings, agent))
    return _exploring(settings, game, make_player(settings.self_play, game, settings.run_dir, itself=agent))


def require_searches(settings: Settings, player: Player) -> None:
    """Raise SettingError unless the searches of `self_play` find values on the scale of the outcome."""
    searching, named = player.unwrapped, settings.self_play or "null"
    if not isinstance(searching, Searches):
        if settings.self_play is not None and parse_name(named).kind == "search":
            reason = "searches of a network without tables find no values"
            raise SettingError(f"self_play={named}: {reason}; set architecture=ntuple, or self_play=mcts:itself")
        raise SettingError(f"self_play={named}: finds no values to learn from; set search:... or mcts:...")
    if isinstance(searching, SearchPlayer) and not searching.searcher.evaluation.predicts_outcome:
        name = searching.searcher.evaluation.name
        raise SettingError(f"self_play={named}: evaluation={name} does not predict outcomes; set that of a level")


def with_opening(settings: Settings, game: Game, player: Player) -> Player:
    """The player, whose matches begin with random plies if the settings say so."""
    return OpeningPlayer(game, player, settings.opening_plies) if settings.opening_plies else player


def _player_of(settings: Settings, agent: Agent) -> ValueNetPlayer | SearchPlayer:
    """An agent with the settings `player`."""
    with fields_of("player", "depth", "temperature"):
        return agent.player(settings.player.depth, settings.player.temperature)


def _exploring(settings: Settings, game: Game, player: Player) -> Player:
    """The player with an opening and with exploration, by its own rate if it has one."""
    epsilons: Sequence[float] = settings.epsilons
    if isinstance(player, EpsilonGreedyPlayer):
        epsilons = player.epsilons
        player = player.player
    if settings.finds_values and isinstance(player, Searches):
        player = KeepsSearches(player)
    return with_opening(settings, game, EpsilonGreedyPlayer(game, player, epsilons))


def search_learner(settings: Settings, agent: Agent) -> Player:
    """An agent as it plays the matches that a policy is learned from: with tree search.

    Raises SettingError if a constant of the rule is out of range, or `mcts.reuse` does not suit the rule.
    """
    how = settings.mcts
    with fields_of("mcts.constants", *how.constants):
        rule = make_rule(how.rule, how.constants)
    search = TreeSearch(agent.game, agent.evaluator(), rule, how.simulations, proves=how.proves, reuse=how.reuse)
    player = MctsPlayer(search, temperature=how.temperature, temperature_plies=how.temperature_plies, name=agent.name)
    return KeepsSearches(player)
