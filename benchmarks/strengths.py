"""Measure Easy, Medium, Hard and Unbeatable against each other and a careful beginner, as a Markdown table.

    python benchmarks/strengths.py
    python benchmarks/strengths.py othello hex --matches 100

Both players move first in half of the matches. Scores are in percent; a draw is half a point. The careful beginner
looks two plies ahead, so it sees its own win and the opponent's threat; in Othello it looks one ply ahead by rules of
thumb (corners, mobility, stable discs), the weights in conf/evaluation/article.yaml.
"""

import project_environment

import argparse
import logging
import sys

from selfplay import match
from selfplay.cli.main import reporting_errors
from selfplay.games import Game, make_game
from selfplay.named_players.strengths import STRENGTHS
from selfplay.players.perfect import perfect_player_of

GAMES = ("tictactoe", "sumto100", "connect_four", "othello", "hex", "breakthrough")
BEGINNER, OTHELLO_BEGINNER = "search:negascout?depth=2&slack=0", "search:negascout?depth=1&slack=0&evaluation=article"


def pairs(game: Game) -> list[tuple[str, str]]:
    """Each strength and what it is measured against."""
    beginner = OTHELLO_BEGINNER if game.counts_discs else BEGINNER
    unbeatable = [] if perfect_player_of(game) is None else [("perfect", "hard")]
    return [("easy", beginner), ("medium", beginner), ("medium", "easy"), ("hard", "medium"), *unbeatable]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--matches", type=int, default=200, help="of each pair")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    print("| game | strength | against | won-drawn-lost | score |\n|---|---|---|---:|---:|", flush=True)
    for name in options.games:
        game = make_game(name)
        for one, other in pairs(game):
            results = match(one, other, game=game, matches=options.matches, seed=options.seed, opening_plies=0)
            words = ["Unbeatable" if player == "perfect" else player.capitalize() for player in (one, other)]
            against = words[1] if other in STRENGTHS else "a careful beginner"
            title = game.presentation.title
            print(f"| {title} | {words[0]} | {against} | {results} | {100 * results.score:.0f} % |", flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
