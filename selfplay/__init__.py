"""Agents that learn two-player board games by playing against themselves, and a proof of how well they play.

    import selfplay

    run = selfplay.learn("tictactoe", levels=3, seed=0)
    print(run.grade())
    print(selfplay.match(run.player(), "random", matches=100))

The names are listed in `__init__.pyi`. They are imported on first use, so that code that needs no network does not
wait for torch to be imported.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
