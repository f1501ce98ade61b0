"""The opponents of an exported page: what is offered, and how the modules in exported/ play it."""

from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from selfplay.agents.agent import Agent
from selfplay.games import Game
from selfplay.grading.versus_rollouts import WORK_OF_PLY, about_plies, rollouts_in_reply, work_of_network
from selfplay.named_players.make import files_of_player
from selfplay.named_players.mcts import RULE_OF_ROLLOUTS, rule_of
from selfplay.named_players.names import PlayerName, kind_named, parse_name
from selfplay.named_players.strengths import offered_strengths
from selfplay.names_of_games import parts_of_game_name
from selfplay.search.mcts.rule import SEARCH_RULES
from selfplay.web.exported_network import PageNetwork
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.offers import OWN_KIND

ROLLOUTS_PART = 4
"""The part of the random matches of a reply elsewhere that a strength plays in a browser, in about a second."""
MOST_PLIES = {"breakthrough": 6, "draughts": 9, "nine_mens_morris": 5, "othello": 7}
"""By the name of a game, whatever its board, the most plies that a strength looks ahead in a browser; in other games as
many as elsewhere. A reply then takes at most a second of processor time (`benchmarks/exported_strengths.py`)."""
MOST_WORK, MOST_ACTIONS = 900_000_000, 100_000
"""The same for simulations with the agent: their multiplications, and the actions of the positions that they add."""
MIXING = ("rollout_share", "rollouts")
"""The options of the mixing of values with random matches."""
POINTS = ("discs", "boxes")
"""The evaluations that are the lead in points."""
SEARCHES = ("search", "tree_search")
"""How the agent plays with a search: by alpha-beta, or by tree search if it has a policy head."""


def exported_strengths(game: Game, agent: Agent, run_dir: Path) -> dict[OfferedPlayer, dict[str, Any]]:
    """The strengths that exported/worker.js can play in seconds: without an agent, or with this one if they have it."""
    found = {}
    for strength, plays in offered_strengths(game, run_dir).items():
        name = parse_name(plays.player)
        if name.kind not in WAYS:
            continue
        is_tree_search = name.kind == "mcts"
        evaluation = name.argument if is_tree_search else name.options["evaluation"]
        if agent.path in files_of_player(plays.player, run_dir):
            evaluation = "agent"
        if evaluation in ("agent", "none", *POINTS, "rollouts"):
            offer = OfferedPlayer(
                strength, "strength", strength.capitalize(), kind_named(strength).meaning, not_made, estimates=False
            )
            found[offer] = {
                **WAYS[name.kind](agent, name, evaluation),
                "temperature": plays.temperature,
                "notices": plays.notices,
            }
    return found


def _alpha_beta(agent: Agent, name: PlayerName, evaluation: str) -> dict[str, Any]:
    options = {option: name.options[option] or 0 for option in ("depth", "slack")}
    options["depth"] = min(options["depth"], MOST_PLIES.get(parts_of_game_name(agent.game.name).base, options["depth"]))
    is_points = evaluation in POINTS
    ends = {"win": 0, "point": 1} if is_points else {"win": 1, "point": 0}
    return {"kind": "strength", "evaluation": "points" if is_points else evaluation, "ends": ends, **options}


def _tree_search(agent: Agent, name: PlayerName, evaluation: str) -> dict[str, Any]:
    game, share, rollouts = agent.game, name.options["rollout_share"], name.options["rollouts"]
    if evaluation == "agent":
        # From the positions in a search half of a match is played, on average.
        mixed = rollouts * WORK_OF_PLY * about_plies(game) / 2 if share else 0
        most = min(MOST_WORK // int(work_of_network(agent) + mixed), MOST_ACTIONS // game.num_distinct_actions)
    else:
        most = rollouts_in_reply(game) // ROLLOUTS_PART
    simulations = max(1, min(name.options["simulations"], most))
    by = {"evaluation": evaluation, "rollout_share": share, "rollouts": rollouts}
    return {"kind": "tree_strength", **by, "rule": _rule(rule_of(name)), "simulations": simulations}


WAYS = {"search": _alpha_beta, "mcts": _tree_search}
"""How the players by whose values strengths draw are described, by the kinds of their names."""


def _rule(name: str) -> dict[str, Any]:
    """A rule of tree search with its default constants."""
    constants = signature(SEARCH_RULES[name]).parameters
    return {"name": name, **{constant: parameter.default for constant, parameter in constants.items()}}


def other_opponents(
    agent: Agent, network: PageNetwork, seconds: float, strongest: dict[str, Any], *, with_rollouts: bool
) -> dict[OfferedPlayer, dict[str, Any]]:
    """The other opponents, and how exported/worker.js values the actions: by one ply, by search, or at random.

    The first that searches judges moves: tree search with random matches, if there is one (`with_rollouts`). In its
    search the values of the agent are mixed with random matches if they are so in the way of the strongest player.
    """
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
    has_policy = len(network.arrays.get("logits", ())) > 0
    mixing = {name: strongest[name] for name in MIXING if strongest.get("evaluation") == "agent" and name in strongest}
    way = _timed_search("agent", "puct") | mixing if has_policy else {"kind": "search"}
    rollouts = OfferedPlayer(
        "rollouts-search",
        "mcts",
        f"Random matches, {seconds:g} s",
        f"tries its moves in random matches for {seconds:g} seconds, in your browser; no level of the run is better",
        not_made,
        is_slow=True,
    )
    by_rollouts = {rollouts: _timed_search("rollouts", RULE_OF_ROLLOUTS)} if with_rollouts else {}
    random = OfferedPlayer(
        "random", "random", "Random", "every legal move is equally likely", not_made, estimates=False
    )
    return {one_ply: {"kind": "agent"}, **by_rollouts, search: way, random: {"kind": "random"}}


def _timed_search(evaluation: str, rule: str) -> dict[str, Any]:
    return {"kind": "tree_search", "evaluation": evaluation, "rollout_share": 0.0, "rollouts": 1, "rule": _rule(rule)}


def not_made() -> None:
    """The players exist in the browser only."""
