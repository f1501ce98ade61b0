"""A tic-tac-toe engine that takes the first free square, logs its input, and can have one fault.

python tests/support/fake_engine.py FOLDER [FAULT AT]

FAULT (a branch of `suffer` or one of ANSWERS) happens once per FOLDER, at genmove number AT; one-size is the refusal
of every boardsize.
FOLDER/told gets every input line, FOLDER/pids the id of each process.
"""

import os
import signal
import sys
import time
from pathlib import Path

FREE = [f"{column}{row}" for row in (1, 2, 3) for column in "ABC"]

ANSWERS = {
    "refuse": "? no idea",
    "refuse-at-length": "? " + "no idea " * 20_000,
    "babble": "hello",
    "babble-at-length": "hello" * 20_000,
    "resign": "= resign",
    "one-long-line": "= " + "A" * 3_000_000,
    "many-lines": "= \n" + "A1\n" * 1_000_000,
    "many-empty-lines": "\n" * 3_000_000,
    "digits-in-a-vertex": "= A" + "9" * 5_000,
    "zeros-in-a-vertex": "= A" + "0" * 5_000 + "1",
    "digits-in-an-id": "=" + "9" * 5_000,
    "talkative": "= A2",
}


def said(text: str = "") -> None:
    print(f"= {text}\n", flush=True)


def suffer(fault: str, taken: list[str]) -> None:
    if fault == "crash":
        print("out of luck", file=sys.stderr)
        sys.exit(3)
    if fault == "stall":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if fault == "hush":
        os.close(1)
        time.sleep(600)
    if fault == "talkative":
        print("thinking " * 300_000, file=sys.stderr, flush=True)
    print(f"= {taken[0]}" if fault == "cheat" else ANSWERS[fault], end="\n\n", flush=True)


def main() -> None:
    folder, (fault, at) = Path(sys.argv[1]), sys.argv[2:] or ["", "0"]
    with (folder / "pids").open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    taken: list[str] = []
    moves = 0
    for line in sys.stdin:
        with (folder / "told").open("a") as told:
            told.write(line)
        name, *arguments = line.split()
        if name == "list_commands":
            said("list_commands\nboardsize\nclear_board\nplay\ngenmove\nquit")
        elif name == "boardsize" and fault == "one-size":
            print("? unacceptable size\n", flush=True)
        elif name == "genmove":
            moves += 1
            if fault and moves == int(at) and not (folder / "done").exists():
                (folder / "done").touch()
                suffer(fault, taken)
                continue
            taken.append(next(square for square in FREE if square not in taken))
            said(taken[-1])
        else:
            if name == "clear_board":
                taken = []
            if name == "play":
                taken.append(arguments[1])
            said()
        if name == "quit":
            return


if __name__ == "__main__":
    main()
