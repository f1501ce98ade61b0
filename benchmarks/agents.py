"""Play Strongest, which uses the agents of the program, against its recorded opponents, as a Markdown table.

    python benchmarks/agents.py
    python benchmarks/agents.py draughts othello --quick

Each opening of four random plies is played from both seats. The recorded results are in RECORDED; --quick plays 20
matches. The program ends with 1 if the 95 % intervals of a measured and the recorded score do not overlap.
"""

import project_environment

import argparse
import logging
import sys

from selfplay import match
from selfplay.cli.entry import reporting_errors
from selfplay.games import make_game
from selfplay.games.win_draw_loss import WinDrawLoss, wilson_interval

ROLLOUTS = "mcts:rollouts?simulations=2000"
RECORDED = {
    "breakthrough": WinDrawLoss(15, 0, 5),
    "breakthrough_6x6": WinDrawLoss(99, 0, 1),
    "breakthrough_8x8": WinDrawLoss(100, 0, 0),
    "dots_and_boxes": WinDrawLoss(83, 0, 17),
    "dots_and_boxes_4x4": WinDrawLoss(93, 6, 1),
    "dots_and_boxes_5x5": WinDrawLoss(99, 0, 1),
    "draughts": WinDrawLoss(78, 14, 8),
    "go": WinDrawLoss(20, 0, 0),
    "gomoku_13x13": WinDrawLoss(20, 0, 0),
    "gomoku_15x15": WinDrawLoss(20, 0, 0),
    "hex": WinDrawLoss(20, 0, 0),
    "hex_11x11": WinDrawLoss(20, 0, 0),
    "nine_mens_morris": WinDrawLoss(99, 1, 0),
    "othello_6x6": WinDrawLoss(15, 2, 3),
}
"""Results of Strongest against ROLLOUTS: won, drawn and lost."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=[*RECORDED], metavar="GAME", help="one of " + ", ".join(RECORDED))
    parser.add_argument("--quick", action="store_true", help="play 20 matches of each game instead of 100")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if unknown := [name for name in options.games if name not in RECORDED]:
        parser.error(f"no recorded results of {', '.join(unknown)}; choose from {', '.join(RECORDED)}")
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    print("| game | won-drawn-lost | score, 95 % | recorded | |\n|---|---:|---|---:|---|", flush=True)
    differ = False
    for name in options.games:
        game, recorded = make_game(name), RECORDED[name]
        matches = 20 if options.quick else recorded.matches
        results = match("strongest", ROLLOUTS, game=game, matches=matches, seed=options.seed, opening_plies=4)
        (low, high), (lowest, highest) = (wilson_interval(each.points, each.matches) for each in (results, recorded))
        agrees = low <= highest and lowest <= high
        differ |= not agrees
        cells = game.presentation.title, results, f"{results.score:.3f} ({low:.3f} to {high:.3f})", recorded
        print(f"| {' | '.join(map(str, cells))} | {'as recorded' if agrees else 'DIFFERS'} |", flush=True)
    sys.exit(int(differ))


if __name__ == "__main__":
    with reporting_errors():
        main()
