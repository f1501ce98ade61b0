"""A small engine of the Universal Chess Interface for tic-tac-toe, which takes the first free square from a3.

python tests/support/uci_engine.py [FOLDER [FAULT]]

FOLDER/told gets every input line. FAULT happens at the first `go` in FOLDER: a key of ANSWERS, or `crash`; `board` and
`chess` are an engine whose variant begins on another board, or that offers another one.
"""

import sys
from pathlib import Path

ANSWERS = {"taken": "bestmove P@a3", "none": "bestmove (none)", "babble": "bestmove"}
SQUARES = [f"P@{file}{rank}" for rank in "321" for file in "abc"]


def main():
    folder, fault = Path(sys.argv[1]) if sys.argv[1:] else None, sys.argv[2] if sys.argv[2:] else ""
    moves = []
    for line in sys.stdin:
        if folder:
            with (folder / "told").open("a") as told:
                told.write(line)
        name, *words = line.split()
        if name == "uci":
            variants = "chess" if fault == "chess" else "chess var tictactoe"
            print(f"id name small\noption name UCI_Variant type combo default chess var {variants}\nuciok")
        elif name == "setoption":
            ranks = "3/3/3/3" if fault == "board" else "3/3/3"
            print(f"info string variant {words[-1]} files 3 ranks 3 pocket 1 template fairy startpos {ranks}[PPp] w")
        elif name == "isready":
            print("readyok")
        elif name == "position":
            moves = words
        elif name == "go":
            answer = f"bestmove {next(square for square in SQUARES if square not in moves)} ponder 0000"
            if fault and not (folder / "done").exists():
                (folder / "done").touch()
                if fault == "crash":
                    sys.exit(3)
                answer = ANSWERS[fault]
            print(f"info depth 1 score cp 0\n{answer}\r")
        elif name == "quit":
            return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
