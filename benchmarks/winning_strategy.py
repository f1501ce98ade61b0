"""Write down what a Connect Four player does moving first against every play, and check by other code that it wins.

    python benchmarks/winning_strategy.py write strategy.npz --run-dir outputs/connect_four/corrected
    python benchmarks/winning_strategy.py check strategy.npz

The file has the stones of both players (bit 7 * row + column, row 0 at the top) and the column that the player takes.
With --endgame N lines end at N empty squares; the check then counts these positions instead of playing on. The check
uses nothing of the library: it drops stones and looks for lines itself.
"""

import project_environment

import argparse
import sys
from pathlib import Path

import numpy as np

ROWS, COLUMNS = 6, 7
SQUARES = ROWS * COLUMNS
PART = 1 << 18
"""Number of positions that are walked together."""
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


def line_masks() -> list[int]:
    """The 69 lines of four squares."""
    masks = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            for down, right in STEPS:
                squares = [(row + down * i, column + right * i) for i in range(4)]
                if all(r < ROWS and 0 <= c < COLUMNS for r, c in squares):
                    masks.append(sum(1 << (COLUMNS * r + c) for r, c in squares))
    return masks


LINES = line_masks()


def has_line(stones: np.ndarray) -> np.ndarray:
    found = np.zeros(len(stones), dtype=bool)
    for mask in LINES:
        found |= (stones & mask) == mask
    return found


def dropped(stones: np.ndarray, column: np.ndarray | int) -> np.ndarray:
    """The bit of a stone dropped into a column of positions with these stones; 0 where the column is full."""
    bit = np.zeros_like(stones)
    for row in range(ROWS):
        square = np.int64(1) << (COLUMNS * row + column)
        bit = np.where((stones & square) == 0, square, bit)
    return np.where((stones >> column) & 1, 0, bit)


def key(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """A number that no other position has: seven bits for each column, its stones of `mine` below a marking bit."""
    number = np.zeros_like(mine)
    for column in range(COLUMNS):
        height = np.zeros_like(mine)
        for up in range(ROWS):
            square = COLUMNS * (ROWS - 1 - up) + column
            number += ((mine >> square) & 1) << (ROWS + 1) * column + up
            height += ((mine | theirs) >> square) & 1
        number += np.int64(1) << (ROWS + 1) * column + height
    return number


def check(path: Path) -> str:
    """The result in words. Raises ValueError at the first position in which the strategy fails."""
    with np.load(path) as archive:
        listed, actions, endgame = key(archive["mine"], archive["theirs"]), archive["column"], int(archive["endgame"])
    order = listed.argsort()
    listed, actions = listed[order], actions[order].astype(np.int64)
    mine, theirs = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    positions = left = 0
    while len(mine):
        sought = key(mine, theirs)
        places = np.minimum(np.searchsorted(listed, sought), len(listed) - 1)
        columns, unlisted = actions[places], listed[places] != sought
        # All positions of a walk have equally many stones.
        if unlisted.any() and SQUARES - int(mine[0] | theirs[0]).bit_count() > endgame:
            raise ValueError(f"no action is listed for {mine[unlisted][0]}, {theirs[unlisted][0]}")
        left += int(unlisted.sum())
        mine, theirs, columns = mine[~unlisted], theirs[~unlisted], columns[~unlisted]
        positions += len(mine)
        stone = dropped(mine | theirs, columns)
        if (stone == 0).any():
            raise ValueError("the column of an action is full")
        mine = mine | stone
        open_ = ~has_line(mine)
        mine, theirs = mine[open_], theirs[open_]
        replies = [(mine, theirs, dropped(mine | theirs, column)) for column in range(COLUMNS)]
        if any(((m | t | r) == (1 << SQUARES) - 1).any() for m, t, r in replies):
            raise ValueError("a match is drawn")
        mine = np.concatenate([m[r != 0] for m, _, r in replies])
        theirs = np.concatenate([(t | r)[r != 0] for _, t, r in replies])
        first = np.unique(key(mine, theirs), return_index=True)[1]
        mine, theirs = mine[first], theirs[first]
        if has_line(theirs).any():
            raise ValueError("a match is lost")
    end = f"; {left:,} positions with at most {endgame} empty squares are left to an exact solver" if left else ""
    return f"wins moving first against every play: all {positions:,} positions checked{end}"


def write(path: Path, player_name: str, run_dir: Path, endgame: int) -> None:
    """Walk every line of play, and write what the player does."""
    import torch

    from selfplay.compute.random_numbers import Draws
    from selfplay.games import make_game
    from selfplay.games.distinct_positions import distinct_positions
    from selfplay.named_players.make import make_player
    from selfplay.search.exact_solver import empties

    if not 0 <= endgame < SQUARES:
        sys.exit(f"--endgame {endgame}: must be from 0 to {SQUARES - 1}")
    game = make_game("connect_four")
    player, state, columns = make_player(player_name, game, run_dir), game.init(), []
    while (state := state.select((~state.terminated & (empties(game, state) > endgame)).nonzero()[:, 0])).batch_size:
        following = []
        for part in map(state.select, torch.arange(state.batch_size).split(PART)):
            actions = player.act(part, Draws(0, torch.arange(part.batch_size), 0))
            columns.append(torch.cat([part.position, actions[:, None]], dim=1))
            after = game.step(part, actions)
            rows, replies = game.legal_action_mask(after).nonzero(as_tuple=True)
            replied = game.step(after.select(rows), replies)
            following.append(replied.position)
        positions = torch.cat(following)
        state = game.state_at(positions[distinct_positions(positions)[0]])
    mine, theirs, column = torch.cat(columns).numpy().T
    np.savez_compressed(path, mine=mine, theirs=theirs, column=column.astype(np.int8), endgame=endgame)
    print(f"{len(mine):,} positions in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("player", nargs="?", default="search:negascout?depth=1&evaluation=level:15")
    parser.add_argument("--run-dir", type=Path, default=Path("outputs/connect_four/corrected"))
    parser.add_argument("--endgame", type=int, default=0)
    options = parser.parse_args()
    if options.task == "write":
        write(options.file, options.player, options.run_dir, options.endgame)
    else:
        try:
            print(f"The strategy in {options.file} {check(options.file)}.")
        except ValueError as error:
            print(f"The strategy in {options.file} does not win: {error}.")
            sys.exit(1)


if __name__ == "__main__":
    main()
