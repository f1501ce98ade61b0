"""Count the immediate wins that a player overlooks or leaves to its opponent, in matches against itself.

    python benchmarks/overlooked.py 'mcts:pretrained?simulations=200' --game gomoku --matches 200

Matches begin with random plies, which are not counted. In each position with an action that wins at once, such an
action should be taken. Otherwise no action should be taken after which the opponent wins at once, unless all are so.
"""

import project_environment

import argparse

import torch
from torch import Tensor

from selfplay import play_matches
from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game, State, make_game
from selfplay.named_players.make import make_player

BATCH = 100


def winning_actions(game: Game, state: State) -> Tensor:
    """bool[B, A]: the actions that win at once."""
    mask = game.legal_action_mask(state)
    rows, actions = mask.nonzero(as_tuple=True)
    after = game.step(state.select(rows), actions)
    mover = state.current_player[rows]
    wins = torch.zeros_like(mask)
    wins[rows, actions] = after.terminated & (torch.where(mover == 0, after.returns, -after.returns) > 0)
    return wins


def leaves_win(game: Game, state: State, actions: Tensor) -> Tensor:
    """bool[B]: whether the opponent wins at once after the action (int64[B])."""
    return winning_actions(game, game.step(state, actions)).any(dim=1)


def can_prevent(game: Game, state: State) -> Tensor:
    """bool[B]: whether an action leaves no win to the opponent."""
    mask = game.legal_action_mask(state)
    rows, actions = mask.nonzero(as_tuple=True)
    quiet = torch.zeros_like(mask)
    quiet[rows, actions] = ~leaves_win(game, state.select(rows), actions)
    return quiet.any(dim=1)


def counts(game: Game, state: State, actions: Tensor) -> Tensor:
    """int64[5]: positions, wins, wins not taken, wins that no action prevents, and wins left that one prevents."""
    wins = winning_actions(game, state)
    can_win = wins.any(dim=1)
    missed = can_win & ~wins[torch.arange(len(actions)), actions]
    others, chosen = state.select(~can_win), actions[~can_win]
    left = leaves_win(game, others, chosen)
    lost = left.clone()
    lost[left] = ~can_prevent(game, others.select(left))
    return torch.stack([torch.tensor(len(actions)), can_win.sum(), missed.sum(), lost.sum(), (left & ~lost).sum()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player")
    parser.add_argument("--game", default="gomoku")
    parser.add_argument("--run-dir", default="")
    parser.add_argument("--matches", type=int, default=500)
    parser.add_argument("--opening-plies", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    game = make_game(options.game)
    player = make_player(options.player, game, options.run_dir)
    key = stream_key(options.seed, 0, Activity.TOURNAMENT)
    total = torch.zeros(5, dtype=torch.int64)
    # The matches 2n and 2n + 1 have the same opening, and the player meets itself in both.
    matches = range(0, 2 * options.matches, 2)
    for record in play_matches(
        game, (player, player), matches, key, batch_size=BATCH, opening_plies=options.opening_plies
    ):
        for state, actions in list(zip(record.states, record.actions, strict=False))[options.opening_plies :]:
            unfinished = ~state.terminated
            if bool(unfinished.any()):
                total += counts(game, state.select(unfinished), actions[unfinished])
    positions, wins, missed, lost, left = total.tolist()
    print("| positions | could win at once | did not | left a win that was unavoidable | left a win that was not |")
    print("|---:|---:|---:|---:|---:|")
    print(f"| {positions:,} | {wins:,} | {missed:,} | {lost:,} | {left:,} |")


if __name__ == "__main__":
    with reporting_errors():
        main()
