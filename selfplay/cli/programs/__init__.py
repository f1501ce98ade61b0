"""The programs, one per module: `selfplay learn` runs `main` of the module `learn`, `selfplay check-game` `check_game`.

The docstring of a module begins the text of `--help`; its first line describes the program in `selfplay --help`.
"""

PROGRAMS = {
    "Learn and prove": ("learn", "generate", "train", "compare", "plot", "compare-runs", "prove"),
    "Play": ("play", "web", "gtp", "play-matches", "tournament"),
    "Analyse a position": ("solve", "analyse"),
    "Classical learners": (
        *("train-tabular", "compete", "play-experience", "draw-experience", "export-experience", "import-experience"),
    ),
    "Tools": ("check-game", "export-evaluation", "export-onnx", "fit-probcut"),
}
"""The names of all programs, by subject."""
