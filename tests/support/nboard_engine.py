"""A small engine of the NBoard protocol for Othello, which takes the move that turns most discs.

python tests/support/nboard_engine.py [FOLDER [FAULT]]

FOLDER/told gets every input line. FAULT happens at the first `go` in FOLDER: a key of ANSWERS, or `crash`.
"""

import re
import sys
from pathlib import Path

ANSWERS = {"taken": "=== D4", "outside": "=== K9/1.0/2", "babble": "=== nothing"}
AROUND = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]


def turned(board, x, y, disc):
    """The discs that `disc` on (x, y) turns."""
    found = []
    for dx, dy in AROUND:
        line, here = [], (x + dx, y + dy)
        while board.get(here, "-") not in ("-", disc):
            line.append(here)
            here = (here[0] + dx, here[1] + dy)
        found += line if board.get(here) == disc else []
    return found


def position_of(match):
    """The board after a match in GGF, and who moves."""
    width, signs, to_move = re.search(r"BO\[(\d+) ([-*O ]+) ([*O])\]", match).groups()
    cells = signs.replace(" ", "")
    board = {(place % int(width), place // int(width)): sign for place, sign in enumerate(cells)}
    for colour, move in re.findall(r"\b([BW])\[([^\]/]*)", match.partition("BO[")[2].partition("]")[2]):
        disc = "*" if colour == "B" else "O"
        to_move = "O" if disc == "*" else "*"
        if move[:2].lower() != "pa":
            x, y = "abcdefgh".index(move[0].lower()), int(move[1:]) - 1
            for place in [(x, y), *turned(board, x, y, disc)]:
                board[place] = disc
    return board, to_move


def choice(board, disc):
    counts = {(x, y): len(turned(board, x, y, disc)) for (x, y), sign in board.items() if sign == "-"}
    x, y = max(counts, key=lambda place: (counts[place], place))
    return f"{'ABCDEFGH'[x]}{y + 1}" if counts[x, y] else "PA"


def main():
    folder, fault = Path(sys.argv[1]) if sys.argv[1:] else None, sys.argv[2] if sys.argv[2:] else ""
    board, disc = {}, "*"
    for line in sys.stdin:
        if folder:
            with (folder / "told").open("a") as told:
                told.write(line)
        name, _, argument = line.strip().partition(" ")
        if name == "nboard":
            print("set myname small")
        elif line.startswith("set game"):
            board, disc = position_of(argument)
        elif name == "ping":
            print(f"status ready\npong {argument}")
        elif name == "go":
            print("status thinking\nnodestats 60 0.01")
            answer = f"=== {choice(board, disc)}/1.5/0.01"
            if fault and not (folder / "done").exists():
                (folder / "done").touch()
                if fault == "crash":
                    sys.exit(3)
                answer = ANSWERS[fault]
            print(answer)
        elif name == "quit":
            return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
