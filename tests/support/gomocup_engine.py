"""A small engine of the Gomocup protocol, which extends its longest lines, or those of the opponent if they are longer.

python tests/support/gomocup_engine.py [FOLDER [FAULT]]

FOLDER/told gets every input line. FAULT happens at the first move that is asked for in FOLDER: a key of ANSWERS, or
`crash`; `small` refuses all boards, and `uninformed` knows no INFO.
"""

import sys
from pathlib import Path

ANSWERS = {"error": "ERROR no idea", "taken": "0,0", "outside": "15,3", "babble": "OK\n"}
# As if neither the four lines of INFO nor the command for a move were known.
ANSWERS["unknown"] = "UNKNOWN\n" * 5
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def longest(stones, crossing):
    """The stones of the longest line that a stone on `crossing` would be part of."""
    lengths = []
    for dx, dy in DIRECTIONS:
        length = 1
        for sign in (1, -1):
            x, y = crossing
            while (x := x + sign * dx, y := y + sign * dy) in stones:
                length += 1
        lengths.append(length)
    return max(lengths)


def choice(size, own, other):
    middle = size // 2

    def rank(crossing):
        x, y = crossing
        mine, theirs = longest(own, crossing), longest(other, crossing)
        return (mine >= 5, theirs >= 5, 2 * mine + theirs, -abs(x - middle) - abs(y - middle))

    free = ((x, y) for y in range(size) for x in range(size) if (x, y) not in own | other)
    return max(free, key=rank)


def answer(text):
    print(f"MESSAGE a remark\n\nDEBUG another\n{text}\r", flush=True)


def lines(folder):
    for line in sys.stdin:
        if folder:
            with (folder / "told").open("a") as told:
                told.write(line)
        yield line.strip()


def main():
    folder, fault = Path(sys.argv[1]) if sys.argv[1:] else None, sys.argv[2] if sys.argv[2:] else ""
    size, own, other = 0, set(), set()
    told = lines(folder)
    for line in told:
        name, _, argument = line.partition(" ")
        if name == "START":
            size, own, other = int(argument), set(), set()
            answer("ERROR too large" if fault == "small" else "OK")
        elif name in ("BEGIN", "TURN", "BOARD"):
            if name == "TURN":
                other.add(tuple(map(int, argument.split(","))))
            while name == "BOARD" and (stone := next(told)) != "DONE":
                x, y, owner = map(int, stone.split(","))
                (own if owner == 1 else other).add((x, y))
            if (fault in ANSWERS or fault == "crash") and not (folder / "done").exists():
                (folder / "done").touch()
                if fault == "crash":
                    sys.exit(3)
                answer(ANSWERS[fault])
                continue
            move = choice(size, own, other)
            own.add(move)
            answer(f"{move[0]},{move[1]}")
        elif name == "END":
            return
        elif name != "INFO" or fault == "uninformed":
            answer("UNKNOWN")


if __name__ == "__main__":
    main()
