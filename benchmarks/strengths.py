"""Measure the strengths that people choose by, each against the next below, as a Markdown table.

    python benchmarks/strengths.py
    python benchmarks/strengths.py othello hex --matches 100
    python benchmarks/strengths.py hex_9x9 --find

Both players move first in half of the matches. Scores are in percent; a draw is half a point.

`--find` finds the temperatures with which each strength scores about 77 % against the next below, by bisection, and
writes the line of the game for LADDERS in selfplay/named_players/ladders.py.
"""

import project_environment

import argparse
import logging
import sys
from itertools import pairwise

from selfplay import match
from selfplay.cli.entry import reporting_errors
from selfplay.games import Game, make_game
from selfplay.named_players.ladder_search import find_temperatures
from selfplay.named_players.strengths import NOTICES, STRENGTHS, strengths
from selfplay.players.perfect import perfect_player_of

GAMES = (
    "connect_four",
    "dots_and_boxes",
    "dots_and_boxes_4x4",
    "dots_and_boxes_5x5",
    "go_3x3",
    "go_5x5",
    "go_7x7",
    "go",
    "go_13x13",
    "breakthrough",
    "breakthrough_6x6",
    "breakthrough_8x8",
    "draughts",
    "nine_mens_morris",
    "othello",
    "othello_6x6",
    "gomoku",
    "gomoku_13x13",
    "gomoku_15x15",
    "hex_5x5",
    "hex",
    "hex_8x8",
    "hex_9x9",
    "hex_11x11",
    "hex_13x13",
    "sumto100",
    "tictactoe",
)
"""The rows of the table in docs/playing.md."""
MOST_TRIES = 7
"""The most temperatures that are tried of each strength."""


def score(game: Game, better: str, worse: str, matches: int, seed: int) -> float:
    return match(better, worse, game=game, matches=matches, seed=seed, opening_plies=0).score


def find(game: Game, matches: int, seed: int) -> None:
    """Write the temperatures of the strengths below the strongest."""

    def told_score(better: str, worse: str) -> float:
        found = score(game, better, worse, matches, seed)
        print(f"  {better} against {worse}: {100 * found:.0f} %", flush=True)
        return found

    usual = {strength: strengths(game)[strength].temperature or 1.0 for strength in NOTICES}
    found = find_temperatures(told_score, usual, MOST_TRIES)
    player = strengths(game)["medium"].player
    print(f'    ("{game.name}", "{player}"): {tuple(one.temperature for one in found.values())},', flush=True)


def measure(game: Game, matches: int, seed: int) -> None:
    """Write a row of the table: the score of each strength against the next below."""
    scores = [score(game, better, worse, matches, seed) for worse, better in pairwise(STRENGTHS)]
    top = "perfect play" if perfect_player_of(game) is not None else strengths(game)["strongest"].player
    print(
        f"| {game.presentation.title} | " + " | ".join(f"{100 * one:.0f} %" for one in scores) + f" | {top} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--matches", type=int, default=200, help="of each pair")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--find", action="store_true", help="find the temperatures")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    if not options.find:
        heads = [f"{better.capitalize()} against {worse.capitalize()}" for worse, better in pairwise(STRENGTHS)]
        print(f"| | {' | '.join(heads)} | Strongest |\n|---|{'---:|' * len(heads)}---|", flush=True)
    for name in options.games:
        (find if options.find else measure)(make_game(name), options.matches, options.seed)


if __name__ == "__main__":
    with reporting_errors():
        main()
