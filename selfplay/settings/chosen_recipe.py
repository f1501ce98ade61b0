"""The recipe of a run whose command names none: found by what the game declares, and by counting its positions.

The choice is the same on every computer. It is recorded with the other settings of the run, so that the same command
resumes the run without choosing again.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import GameTooLargeError
from selfplay.games import GAMES, Game, make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.matches.series import Series
from selfplay.named_players.names import parse_name
from selfplay.names_of_games import parts_of_game_name
from selfplay.players.player import RandomPlayer
from selfplay.runs.command_lines import DEFAULT_GAME
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.runs.manifest import RUN, Manifest
from selfplay.settings.compose import composed_values, name_settings_modules
from selfplay.settings.overrides import quoted
from selfplay.settings.run import DatasetSettings, Settings

CHOSEN = {"recipe", "learner", "learner.name", "architecture", "architecture.name"}
"""The settings with which a command chooses the way of learning itself; others, such as learner.simulations, count for
what is chosen."""
MOST_POSITIONS = 50_000
"""Up to this number of positions a game is enumerated, and the value of each position is learned."""
FEWEST_PLIES = 24
"""Matches that may be shorter begin with fewer random plies."""

COUNTED_MATCHES = 64
"""Random matches whose plies are counted."""
MOST_PLIES, FEWEST_SIMULATIONS = 10**8, 32
"""Plies of random matches from which level 1 learns; and simulations of its search in long games."""
MOST_IN_BATCH = 150_000
"""Squares of the positions of a batch: training takes as long as they are many."""

PLIES_OF_POSITION = 200
"""Plies of random matches for each position that a search values: they take about as long as a small network."""
MOST_ROWS, MOST_AT_ONCE, FEWEST_MATCHES = 1_000_000, 500_000, 20
"""Plies of the matches of a level that learns the value of each position, and of those that are in memory at once; the
fewest matches that are played anyway."""
MOST_SEARCHES, MOST_ENTRIES = 60_000, 50_000_000
"""Plies of the matches of a level that learns a policy, and probabilities of actions in them: 200 MB, of ten levels."""

SIMULATIONS = re.compile(r"simulations=\d+")

GENERAL, VALUES = "general", Settings.recipe


def with_chosen_recipe(overrides: Sequence[str]) -> tuple[list[str], str]:
    """The overrides of `selfplay learn`, before them those that choose how its game is learned, and why: a line.

    Nothing is added, and the line is empty, if the overrides choose it or name no game, or if the run has been begun.
    Raises SettingError, and ConformanceError for a game of one's own that fails its quick check.
    """
    names = {override.lstrip("+~").partition("=")[0] for override in overrides}
    if not names & {"game", "game.name"} or names & CHOSEN:
        return list(overrides), ""
    # Those of a learner or a network suit only what is chosen.
    plain = [override for override in overrides if not override.lstrip("+~").startswith(("learner.", "architecture."))]
    values = composed_values(Settings, "config", plain)
    if RUN in Manifest(Path(values.run_dir)).sections and not values.fresh:
        return list(overrides), ""
    name_settings_modules({"game": str(values.game.name)})
    chosen, reason = way_of_learning(make_game(str(values.game.name)))
    return [*chosen, *overrides], f"chose {' '.join(chosen)}: {reason}"


def way_of_learning(game: Game) -> tuple[list[str], str]:
    """The overrides that choose how a game is learned, and the reason for people."""
    if (recipe := recipe_of(game)) is not None:
        return [f"recipe={recipe}"], "the recipe of this game; recipe=... chooses another one"
    try:
        count = len(enumerate_positions(game, MOST_POSITIONS))
    except GameTooLargeError:
        return _general(game)
    reason = (
        f"the game has {count:,} positions, so the value of each is learned, and whether a level can lose is proved"
    )
    return [f"recipe={VALUES}", *_fewer_values(game)], f"{reason}; recipe={GENERAL} learns by tree search"


def recipe_of(game: Game) -> str | None:
    """The recipe that a shipped game has, by its name; None for other games."""
    base = parts_of_game_name(game.name).base
    if base not in GAMES.included or base == DEFAULT_GAME:
        return None
    names = [game.name, base, f"alphazero_{base}"]
    return next((name for name in names if (CONFIG_FOLDER / "recipe" / f"{name}.yaml").exists()), None)


def _general(game: Game) -> tuple[list[str], str]:
    chosen, what = [f"recipe={GENERAL}"], "a board"
    if len(game.observation_shape) != 3:
        chosen.append("architecture=alphazero_mlp")
        what = "no board"
    if (longest := game.max_game_length) < FEWEST_PLIES:
        chosen.append(f"learner.opening_plies={longest // 4}")
    plies = _plies_of_random_matches(game)
    chosen += _by_plies(plies) + _fewer_matches(plies, game.num_distinct_actions) + _smaller_batch(game)
    reason = f"more than {MOST_POSITIONS:,} positions, {what}, {game.num_distinct_actions:,} actions"
    return (
        chosen,
        f"{reason}. Interrupt it at any time and play; the same command resumes it. recipe=... chooses another",
    )


def _plies_of_random_matches(game: Game) -> float:
    """Their mean number."""
    numbers, nobody = range(COUNTED_MATCHES), RandomPlayer(game)
    played = Series(numbers, stream_key(0, 0, Activity.MEASUREMENT)).records(game, (nobody, nobody))
    return sum(int((~state.terminated).sum()) for record in played for state in record.states) / COUNTED_MATCHES


def _fewer_values(game: Game) -> list[str]:
    """In a game with long matches, the overrides with fewer matches, and fewer of them in memory."""
    if Settings.matches * game.max_game_length <= MOST_ROWS:
        return []
    plies = _plies_of_random_matches(game)
    matches, at_once = (max(FEWEST_MATCHES, int(most / plies)) for most in (MOST_ROWS, MOST_AT_ONCE))
    shard = [f"dataset.shard_matches={at_once}"] if at_once < DatasetSettings.shard_matches else []
    return ([f"matches={matches}"] if matches < Settings.matches else []) + shard


def _fewer_matches(plies: float, actions: int) -> list[str]:
    """In a game with long matches, the override with fewer, so that levels take minutes and fit into memory."""
    usual = _general_recipe().matches
    matches = min(usual, max(FEWEST_MATCHES, int(min(MOST_SEARCHES / plies, MOST_ENTRIES / (plies * actions)))))
    # Of the search from which level 1 learns, which has FEWEST_SIMULATIONS then.
    first = max(FEWEST_MATCHES, int(MOST_PLIES / (FEWEST_SIMULATIONS * plies * plies / 2)))
    if first < matches:
        return [f"matches={first}", f"from_level.2.matches={matches}"]
    return [f"matches={matches}"] if matches < usual else []


def _smaller_batch(game: Game) -> list[str]:
    """On a large board, the override with smaller batches."""
    usual = batch = _general_recipe().learner.batch_size
    while batch * (game.num_squares or 1) > MOST_IN_BATCH:
        batch //= 2
    return [f"learner.batch_size={batch}"] if batch < usual else []


def _general_recipe() -> Any:
    return OmegaConf.load(CONFIG_FOLDER / "recipe" / f"{GENERAL}.yaml")


def _by_plies(plies: float) -> list[str]:
    """In a game with long matches, the overrides with fewer random matches for each position, and fewer simulations of
    the search from which level 1 learns."""
    recipe = _general_recipe()
    # A simulation plays the rest of a match: half of it on average.
    affordable = int(MOST_PLIES / (recipe.matches * plies * plies / 2))
    teacher, chosen = parse_name(recipe.learner.self_play), list[str]()
    if (rollouts := max(1, int(PLIES_OF_POSITION / (plies / 2)))) < recipe.learner.rollouts:
        chosen.append(f"learner.rollouts={rollouts}")
    if affordable < int(teacher.given["simulations"]):
        fewer = f"simulations={max(FEWEST_SIMULATIONS, affordable)}"
        chosen.append(f"learner.self_play={quoted(SIMULATIONS.sub(fewer, teacher.text))}")
    return chosen
