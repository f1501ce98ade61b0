"""The strengths that people choose by, `beginner` to `strongest`, and the player that judges their moves.

All of them come with the program, so a name means the same player on every computer; in games without an agent that
comes with it, the best level of a run plays instead, as soon as it is better than random matches. `python
benchmarks/strengths.py` measures them, and finds the temperatures.
"""

from pathlib import Path
from typing import NamedTuple

from selfplay.agents.pretrained import (
    PRETRAINED,
    find_pretrained,
    is_for_compiled_search,
    pretrained_agent,
    search_depth,
)
from selfplay.games import Game
from selfplay.grading.versus_rollouts import allowed_in_reply, rollouts_in_reply
from selfplay.named_players.ladders import LEVELS, are_found, temperatures_of
from selfplay.named_players.make import make_player
from selfplay.named_players.names import PlayerKind, PlayerName, player_kind
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.players.tempered import TemperedPlayer
from selfplay.runs.levels import Rated, best_level, rated_levels
from selfplay.runs.run_folder import PROBCUT_FILE, RunFolder

NOTICES = {"beginner": 0.5, "easy": 0.75, "medium": 0.95, "hard": 1.0}
"""The weaker strengths, the weakest first: how often each sees that a player can win at once."""
STRENGTHS = (*NOTICES, "strongest")
"""The weakest first."""

SEARCH, DEEP_SEARCH = "search:negascout?table_bits=0", "search:negascout?table_bits=14"
"""Without a table, which saves little at small depths, so that each of many matches can have a player."""
DEPTH, DEPTH_BY_FEATURES, DEPTH_BY_PROBCUT = 5, 6, 10
"""Plies that the strongest search looks ahead in most games: with a learned agent, without, and with an agent to which
ProbCut was fitted. The weaker strengths draw by the values of one ply less."""
THRESHOLD = 1.0
"""Of ProbCut."""
SOLVED_DEPTH, SOLVED_DEPTH_BY_ENDS = 3, 8
"""Plies by whose values the weaker strengths draw in games that can be solved: where positions before the end have
values, and where only ends have."""
ENDGAME = 14
"""With at most this number of empty squares searches play perfectly, in games with an exact solver."""
SLACK = 0.01
"""Of the strongest player that searches by alpha-beta, so that it does not repeat its matches."""
SIMULATIONS, SIMULATIONS_ON_LARGE = (100, 400), (400, 2000)
"""Simulations with a learned agent: of the search by which the weaker strengths draw, and of the strongest; the same on
boards of more than LARGE squares."""
LARGE = 100
ROLLOUT_SEARCH = "mcts:rollouts?simulations="
WEAKER_PART = 20
"""The part of the simulations of the strongest search, which are the work of a reply (`selfplay.grading.
versus_rollouts`), that the search with random matches has by which the weaker strengths draw; that with a level has
those of its rating, which is this part of the work too."""
PROOF_POSITIONS = 300_000
"""Positions that the proofs of Hard and the strongest visit, with an agent that searches trees: 10 to 60 ms. Where
players can pass, results are proved only at the very end."""
FROM_VISITS = 0.25
"""The temperature of the strongest player that searches trees, so that it does not repeat its matches."""


class Strength(NamedTuple):
    """How a strength plays."""

    player: str
    """The name of the player by whose values it draws its actions."""
    temperature: float | None = None
    """As of `TemperedPlayer`; None: it plays as this player does."""
    notices: float = 1.0
    """Likewise."""


def strengths(game: Game, run_dir: Path | None = None) -> dict[str, Strength]:
    """How each of the strengths plays in a game. The first call for a game can take seconds.

    In games for which no agent comes with the program they are the best level of the run in `run_dir`, if it has one
    that is better than random matches, and their temperatures are those that the run has found. Each draws one of about
    equally good actions, so that it does not repeat its matches.
    """
    weaker, strongest = _players(game, run_dir)
    run = None if run_dir is None else RunFolder(run_dir)
    temperatures = zip(NOTICES.items(), temperatures_of(game.learned_as(), weaker, run), strict=True)
    tempered = {name: Strength(weaker, temperature, notices) for (name, notices), temperature in temperatures}
    found = tempered | {"strongest": strongest}
    if weaker.startswith(f"mcts:{PRETRAINED}") and game.any_pass is None:
        for name in ("hard", "strongest"):
            found[name] = found[name]._replace(player=f"{found[name].player}&proof_positions={PROOF_POSITIONS}")
    return found


def offered_strengths(game: Game, run_dir: Path | None = None) -> dict[str, Strength]:
    """The strengths that people are offered: without Hard where nothing was learned or measured.

    There random matches alone say which moves are good, and Hard may play as well as the strongest: in tic-tac-toe on
    4x4 squares nearly all their matches are draws.
    """
    found = strengths(game, run_dir)
    player = found["hard"].player
    run = None if run_dir is None else RunFolder(run_dir)
    if player.startswith(ROLLOUT_SEARCH) and not are_found(game.learned_as(), player, run):
        del found["hard"]
    return found


def _players(game: Game, run_dir: Path | None) -> tuple[str, Strength]:
    """The player by whose values the weaker strengths draw, and the strongest."""
    learned_as, has_perfect = game.learned_as(), perfect_player_of(game) is not None
    has_agent = find_pretrained(learned_as) is not None
    if has_agent and not is_for_compiled_search(learned_as):
        simulations, most = SIMULATIONS_ON_LARGE if (game.num_squares or 0) > LARGE else SIMULATIONS
        search = f"mcts:{PRETRAINED}?simulations="
        return f"{search}{simulations}", Strength(f"{search}{most}", FROM_VISITS)
    evaluation = PRETRAINED if has_agent else game.usual_evaluation
    if has_perfect:
        depth = SOLVED_DEPTH_BY_ENDS if evaluation == "none" else SOLVED_DEPTH
        return f"{SEARCH}&evaluation={evaluation}&depth={depth}", Strength("perfect")
    if has_agent or game.features is not None:
        depth, more = search_depth(learned_as, DEPTH) if has_agent else DEPTH_BY_FEATURES, ""
        if has_agent and pretrained_agent(learned_as).with_name(PROBCUT_FILE).exists():
            depth, more = DEPTH_BY_PROBCUT, f"&probcut={THRESHOLD}"
        if game.exact_solver is not None:
            more += f"&endgame={ENDGAME}"
        weaker, strongest = (
            f"{DEEP_SEARCH}&evaluation={evaluation}&depth={plies}{more}" for plies in (depth - 1, depth)
        )
        return weaker, Strength(f"{strongest}&slack={SLACK}")
    if run_dir is not None and (best := best_level(RunFolder(run_dir))) is not None:
        return best.search(best.simulations), Strength(best.search(_in_reply(game, best)), FROM_VISITS)
    most = rollouts_in_reply(game)
    return f"{ROLLOUT_SEARCH}{max(1, most // WEAKER_PART)}", Strength(f"{ROLLOUT_SEARCH}{most}", FROM_VISITS)


def _in_reply(game: Game, level: Rated) -> int:
    """The simulations of a search with a level that are the work of a reply: its rating was at equal work too."""
    return allowed_in_reply(game, level.simulations * rollouts_in_reply(game) // level.rollouts)


def strongest_rollouts(game: Game) -> str:
    """The name of the search by random matches that plays where nothing was learned."""
    return f"{ROLLOUT_SEARCH}{rollouts_in_reply(game)}"


JUDGE_DEPTH, JUDGE_SIMULATIONS, NETWORK_SIMULATIONS = 5, 4000, 100
"""Fixed, so that its values depend only on the position; they take at most about 0.1 s."""
JUDGE_PART = 4
"""The part of the work of a reply that the judge has, so that it values all actions of most positions."""


def judge_name(game: Game, run_dir: Path | None = None) -> tuple[str, str]:
    """The name of the strongest player that is known for a game, and how people call it.

    It comes with the program; in games without an agent it is the best level of the run in `run_dir`, as in
    `strengths`.
    Exact values are better, where they are known.
    """
    has_agent = find_pretrained(game.learned_as()) is not None
    if has_agent and not is_for_compiled_search(game.learned_as()):
        return (
            f"mcts:{PRETRAINED}?simulations={NETWORK_SIMULATIONS}",
            f"{PRETRAINED}, {NETWORK_SIMULATIONS} simulations",
        )
    if not has_agent and not game.counts_discs:
        if run_dir is not None and (best := best_level(RunFolder(run_dir))) is not None:
            simulations = max(1, _in_reply(game, best) // JUDGE_PART)
            return best.search(simulations), f"level {best.level}, {simulations:,} simulations"
        simulations = max(1, min(JUDGE_SIMULATIONS, rollouts_in_reply(game) // JUDGE_PART))
        return f"{ROLLOUT_SEARCH}{simulations}", f"tree search, {simulations:,} random matches"
    evaluation = PRETRAINED if has_agent else game.usual_evaluation
    # A small table, because there may be one for each match.
    depth = search_depth(game.learned_as(), JUDGE_DEPTH)
    name = f"search:negascout?depth={depth}&table_bits=14&evaluation={evaluation}"
    return name, f"{evaluation}, {depth} plies"


def is_from_run(game: Game, run_dir: Path) -> bool:
    """Whether the strengths are tree search with a level of the run in `run_dir`, or with random matches."""
    return strengths(game, run_dir)["hard"].player.startswith((LEVELS, ROLLOUT_SEARCH))


def plays_random_matches(game: Game, run_dir: Path) -> bool:
    """Whether levels of the run in `run_dir` were rated, and tree search with random matches is still the best that is
    known in the game."""
    return judge_name(game, run_dir)[0].startswith(ROLLOUT_SEARCH) and rated_levels(RunFolder(run_dir)) != []


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    """The level that a strength plays where no agent comes with the program."""
    run, best = RunFolder(run_dir), best_level(RunFolder(run_dir))
    tables = [run.temperatures(level) for level in run.levels_with(run.temperatures(0).name)]
    return tables if best is None else [run.agent(best.level), run.versus_rollouts(best.level), *tables]


def _made(game: Game, name: PlayerName, temperature: float | None, run_dir: Path) -> Player:
    strength = strengths(game, run_dir)[name.kind]
    player = make_player(strength.player, game, run_dir)
    if (drawn := strength.temperature if temperature is None else temperature) is not None:
        player = TemperedPlayer(game, player, drawn, notices=strength.notices)
    player.name = name.text
    return player


def _kind(strength: str, meaning: str) -> PlayerKind:
    def made(game: Game, name: PlayerName, *, temperature: float | None = None, run_dir: Path) -> Player:
        return _made(game, name, temperature, run_dir)

    made.__doc__ = f"{meaning}\n\nArgs:\n    temperature: the higher, the weaker; null: as usual for the game"
    return player_kind(strength, files=_files)(made)


beginner = _kind("beginner", "the opponent that sees every second win or threat")
easy = _kind("easy", "the opponent that sees three of four wins and threats")
medium = _kind("medium", "the opponent that seldom misses a win or a threat")
hard = _kind("hard", "the opponent that makes small mistakes")
strongest = _kind("strongest", "the strongest opponent that is known for the game and answers at once")
