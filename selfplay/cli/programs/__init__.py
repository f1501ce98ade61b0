"""The programs, one module for each subject, whose NAME_program is what `selfplay NAME` runs.

The docstring of a program's function begins the text of `--help`; its first line describes it in `selfplay --help`.
"""

SUBJECTS = {
    "learning": "Learn and prove",
    "playing": "Play",
    "analysis": "Analyse a position",
    "classical": "Classical learners",
    "tools": "Tools",
}
"""The modules, and what `selfplay --help` calls them."""

NAMES = {
    "learning": ("learn", "generate", "train", "compare", "plot", "compare-runs", "prove", "correct"),
    "playing": ("play", "web", "gtp", "gomocup", "nboard", "uci", "play-matches", "tournament"),
    "analysis": ("solve", "analyse"),
    "classical": (
        *("train-tabular", "compete", "play-experience", "draw-experience", "export-experience", "import-experience"),
    ),
    "tools": ("check-game", "export-evaluation", "export-onnx", "export-page", "fit-probcut"),
}
"""The names of the programs of each module, so that listing them imports none."""

MODULES = {name: module for module, names in NAMES.items() for name in names}
"""The module of each program."""

RESUMED = (*NAMES["learning"], "train-tabular", "tournament")
"""The programs that continue, if they are run again, what a signal has ended."""
