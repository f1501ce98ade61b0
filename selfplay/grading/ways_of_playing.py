"""Exact grades of the ways in which a level with a policy can play: by its policy alone, by its values, by search."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.games import Game
from selfplay.grading.grade import FIRST, SEAT_NAMES, Grade, is_unbeatable, lines_text
from selfplay.grading.policy_measures import policy_entropies
from selfplay.grading.proof import Grader
from selfplay.grading.table_columns import Column
from selfplay.players.player_names import make_player

SIMULATIONS = (2, 8, 32)


class WayOfPlaying(NamedTuple):
    """How a level plays in one of these ways."""

    level: int
    player: str
    """The name of the player, as in `selfplay.players.player_names`."""
    grade: Grade
    agreement: float
    """Share of all positions in which its action is that of the search with the most simulations."""
    entropy: float | None
    """Mean entropy of the policy head over all positions, in nats; None for the other ways."""


def _columns_of_seat(number: int, seat: str) -> list[Column[WayOfPlaying]]:
    def lost(way: WayOfPlaying) -> int:
        return way.grade.lines[number].lost

    def total(way: WayOfPlaying) -> int:
        return way.grade.lines[number].total

    return [
        Column(f"losing_lines_{seat}", f"lines lost, moving {seat}", lost, int, exceeds_64_bits=True),
        Column(f"lines_{seat}", f"all these lines, moving {seat}", total, int, exceeds_64_bits=True),
    ]


WAY_COLUMNS: Sequence[Column[WayOfPlaying]] = (
    Column("level", "the level", lambda way: way.level, int),
    Column("player", "the player's name", lambda way: way.player, str),
    *(column for number, seat in enumerate(SEAT_NAMES) for column in _columns_of_seat(number, seat)),
    Column(
        "optimal_action_rate",
        "share of all positions in which its action keeps the value of perfect play",
        lambda way: way.grade.optimal_action_rate,
    ),
    Column(
        "search_agreement",
        f"share of all positions in which its action is that of the search with {SIMULATIONS[-1]} simulations",
        lambda way: way.agreement,
    ),
    Column(
        "policy_entropy",
        "mean entropy of the policy head, in nats; empty for others",
        lambda way: way.entropy,
        decimals=4,
    ),
)


def ways_of_playing(run_dir: Path, game: Game, levels: Sequence[int], grader: Grader) -> list[WayOfPlaying]:
    """The policy alone, the values alone, and searches of each level.

    Raises SettingError if a level has no policy head.
    """
    return [way for level in levels for way in _ways_of_level(run_dir, game, level, grader)]


def _ways_of_level(run_dir: Path, game: Game, level: int, grader: Grader) -> Iterator[WayOfPlaying]:
    names = [f"policy:{level}", f"level:{level}"]
    names += [f"mcts:level:{level}?simulations={simulations}" for simulations in SIMULATIONS]
    players = [make_player(name, game, run_dir) for name in names]
    actions = [grader.policies(player)[FIRST].argmax(axis=1) for player in players]
    is_open = ~grader.graph.terminated
    for name, player, chosen in zip(names, players, actions, strict=True):
        agreement = float((chosen == actions[-1])[is_open].mean())
        entropy = _entropy(run_dir, game, level, grader, is_open) if name == names[0] else None
        yield WayOfPlaying(level, name, grader.grade(player), agreement, entropy)


def _entropy(run_dir: Path, game: Game, level: int, grader: Grader, is_open: NDArray[np.bool_]) -> float:
    state = grader.graph.state.select(torch.from_numpy(is_open))
    return float(policy_entropies(run_dir, game, level, state).mean())


def ways_text(ways: Sequence[WayOfPlaying]) -> str:
    """A line for each way in which the newest of the levels plays; empty without any."""
    lines = [_sentence(way) for way in ways if way.level == ways[-1].level]
    return "".join(f"{line}\n" for line in lines)


def _sentence(way: WayOfPlaying) -> str:
    optimal = f"optimal in {way.grade.optimal_action_rate:.4f} of all positions"
    if is_unbeatable(way.grade.lines):
        return f"{way.player} cannot lose; {optimal}."
    first, second = map(lines_text, way.grade.lines)
    return f"{way.player} can lose {first} lines moving first and {second} moving second; {optimal}."
