"""The opponents of an exported page: what is offered, and how the modules in exported/ play it."""

from functools import partial
from inspect import signature
from typing import Any

from selfplay.games import Game
from selfplay.named_players.mcts import rule_of
from selfplay.named_players.names import PlayerName, kind_named, parse_name
from selfplay.named_players.strengths import offered_strengths
from selfplay.players.agent import Agent
from selfplay.players.pretrained import PRETRAINED, pretrained_agent
from selfplay.registry import parts_of_game_name
from selfplay.search.mcts.rule import SEARCH_RULES
from selfplay.web.exported_network import ExportedNetwork
from selfplay.web.offers import OWN_KIND
from selfplay.web.schemas import OfferedPlayer

MOST_ROLLOUTS = 200_000
"""The most simulations with random matches, times the squares of the board, of a strength: 2,000 on 9x9 take seconds in
a browser."""
MOST_PLIES = {"breakthrough": 6, "draughts": 9, "nine_mens_morris": 5, "othello": 7}
"""By the name of a game, whatever its board, the most plies that a strength looks ahead in a browser; in other games as
many as elsewhere. A reply then takes at most a second of processor time (`benchmarks/exported_strengths.py`)."""
MOST_SIMULATIONS = 400
"""The same for simulations with the agent."""
POINTS = ("discs", "boxes")
"""The evaluations that are the lead in points."""
SEARCHES = ("search", "tree_search")
"""How the agent plays with a search: by alpha-beta, or by tree search if it has a policy head."""


def exported_strengths(game: Game, agent: Agent) -> dict[OfferedPlayer, dict[str, Any]]:
    """The strengths that exported/worker.js can play in seconds: without an agent, or with it if it is pretrained."""
    found = {}
    for strength, plays in offered_strengths(game).items():
        name = parse_name(plays.player)
        if name.kind not in WAYS:
            continue
        is_tree_search = name.kind == "mcts"
        evaluation = name.argument if is_tree_search else name.options["evaluation"]
        if evaluation == PRETRAINED and agent.path == pretrained_agent(game.learned_as()):
            evaluation = "agent"
        is_slow = evaluation == "rollouts" and name.options["simulations"] * (game.num_squares or 0) > MOST_ROLLOUTS
        if evaluation in ("agent", "none", *POINTS, "rollouts") and not is_slow:
            offer = OfferedPlayer(
                strength, "strength", strength.capitalize(), kind_named(strength).meaning, not_made, estimates=False
            )
            found[offer] = {
                **WAYS[name.kind](game, name, evaluation),
                "temperature": plays.temperature,
                "notices": plays.notices,
            }
    return found


def _alpha_beta(game: Game, name: PlayerName, evaluation: str) -> dict[str, Any]:
    options = {option: name.options[option] or 0 for option in ("depth", "slack")}
    options["depth"] = min(options["depth"], MOST_PLIES.get(parts_of_game_name(game.name).base, options["depth"]))
    is_points = evaluation in POINTS
    ends = {"win": 0, "point": 1} if is_points else {"win": 1, "point": 0}
    return {"kind": "strength", "evaluation": "points" if is_points else evaluation, "ends": ends, **options}


def _tree_search(game: Game, name: PlayerName, evaluation: str) -> dict[str, Any]:
    simulations = name.options["simulations"]
    if evaluation == "agent":
        simulations = min(simulations, MOST_SIMULATIONS)
    return {"kind": "tree_strength", "evaluation": evaluation, "rule": _rule(rule_of(name)), "simulations": simulations}


WAYS = {"search": _alpha_beta, "mcts": _tree_search}
"""How the players by whose values strengths draw are described, by the kinds of their names."""


def _rule(name: str) -> dict[str, Any]:
    """A rule of tree search with its default constants."""
    constants = signature(SEARCH_RULES[name]).parameters
    return {"name": name, **{constant: parameter.default for constant, parameter in constants.items()}}


def other_opponents(agent: Agent, network: ExportedNetwork, seconds: float) -> dict[OfferedPlayer, dict[str, Any]]:
    """The other opponents, and how exported/worker.js values the actions: by one ply, by search, or at random."""
    name, label = agent.name.replace(" ", "-"), agent.name.capitalize()
    learned = partial(OfferedPlayer, make=not_made, values_hold=OWN_KIND)
    one_ply = learned(name, "level", label, "learned by self-play; looks at its own next move only")
    search = learned(
        f"{name}-search",
        "search",
        f"{label}, {seconds:g} s",
        f"looks ahead for {seconds:g} seconds with {agent.name}, in your browser",
        is_slow=True,
    )
    has_policy = network.description.get("policy") is not None
    way = {"kind": "tree_search", "rule": _rule("puct")} if has_policy else {"kind": "search"}
    random = OfferedPlayer(
        "random", "random", "Random", "every legal move is equally likely", not_made, estimates=False
    )
    return {one_ply: {"kind": "agent"}, search: way, random: {"kind": "random"}}


def not_made() -> None:
    """The players exist in the browser only."""
