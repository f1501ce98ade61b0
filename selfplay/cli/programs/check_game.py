"""Check that a game meets the contract of games, for example one of your own.

selfplay check-game my_module:Connect3
selfplay check-game my_module:Connect3 --perft 3 9 27 81 240

Plays random matches and compares everything that the game provides. The numbers after --perft are the known counts of
sequences of 1, 2, 3, ... plies from the start; without them the counts of the game are printed. Nobody but you can
check who wins: write a test with a match won by each side.
"""

from selfplay.cli.command import ArgumentParser, reporting_errors

DEPTHS = 5
"""Plies for which the counts are printed if none are given."""


def check() -> None:
    parser = ArgumentParser("check-game", __doc__)
    parser.add_argument("game", help="module:Class, or the name of a game")
    parser.add_argument("--perft", type=int, nargs="+", default=[], metavar="COUNT", help="the known counts")
    options = parser.parse_args()
    from selfplay.games import make_game
    from selfplay.games.conformance import check_game

    game = make_game(options.game)
    check_game(game, options.perft)
    print(f"{game.name}: accepted: legality, perspective, symmetries, texts, ends, observations, and compiled, tensor")
    print("and scalar rules agree in random matches" + (", as do the counts of sequences" if options.perft else ""))
    if not options.perft:
        counts = [game.kernels.perft(*game.rules.initial, depth, False) for depth in range(1, DEPTHS + 1)]
        print(f"sequences of 1 to {DEPTHS} plies: {' '.join(map(str, counts))}; compare them with an independent count")


def main() -> None:
    with reporting_errors():
        check()
