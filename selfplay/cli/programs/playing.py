"""Programs that play matches."""

import shutil
import sys
from collections.abc import Callable
from functools import partial

from selfplay.cli.command import Program
from selfplay.installation import require_package
from selfplay.playing.console import play_at_console
from selfplay.playing.console_text import supports_colour
from selfplay.playing.open_session import make_engine
from selfplay.progress import progress_bar
from selfplay.protocols.commands import command_lines
from selfplay.protocols.gomocup.engine import GomocupEngine
from selfplay.protocols.gtp.engine import GtpEngine
from selfplay.protocols.line_engine import LineEngine, answer_lines
from selfplay.protocols.nboard import NBoardEngine
from selfplay.protocols.uci.engine import UciEngine
from selfplay.settings.matches import MatchSettings, TournamentSettings
from selfplay.settings.playing import (
    EngineSettings,
    GomocupSettings,
    GtpSettings,
    NBoardSettings,
    PlaySettings,
    UciSettings,
    WebSettings,
)
from selfplay.settings.run import Run
from selfplay.stages.play_matches import play_match_series


@partial(Program, kind=PlaySettings, config="play")
def play_program(settings: PlaySettings) -> None:
    """Play in a terminal against a level or any other player; or watch two players.

    The opponent shows its values.

    selfplay play
    selfplay play --level 17 perfect=true
    selfplay play opponent=tabular:backward_value verbose=true board=boxed
    selfplay play first=human second=perfect
    selfplay play first=random second=experience swap=true
    selfplay play --game sumto100 run_dir=outputs/try
    """
    columns = shutil.get_terminal_size().columns
    play_at_console(Run.of(settings), input, print, colour=supports_colour(sys.stdout), columns=columns)


@partial(Program, kind=WebSettings, config="web", ends_at_once=True)
def web_program(settings: WebSettings) -> None:
    """Play in a browser, and watch the training of a run.

    Serves every game, with levels, searches and tables as opponents.

    selfplay web
    selfplay web --port 8001
    selfplay web --game othello run_dir=outputs/try
    selfplay web host=0.0.0.0 'hosts=[192.168.0.7]'   # reachable from other computers at this address
    """
    for package in ("fastapi", "uvicorn"):
        require_package("the page", package, "page")
    from selfplay.web.app import serve

    serve(settings)


@partial(Program, kind=GtpSettings, config="gtp", log_to=sys.stderr)
def gtp_program(settings: GtpSettings) -> None:
    """Run a player as an engine of the Go Text Protocol (GTP).

    Graphical boards and other programs can then play against it.

    selfplay gtp
    selfplay gtp 'player=search:negascout?depth=6&evaluation=article&endgame=14'
    selfplay gtp --game othello_6x6 player=random
    """
    _answer(GtpEngine, settings)


@partial(Program, kind=GomocupSettings, config="gomocup", log_to=sys.stderr)
def gomocup_program(settings: GomocupSettings) -> None:
    """Run a player as an engine of the Gomocup protocol, for Gomoku.

    Piskvork and other managers of matches can then play against it.

    selfplay gomocup
    selfplay gomocup 'player=mcts:rollouts?simulations=1000'
    """
    _answer(GomocupEngine, settings)


@partial(Program, kind=NBoardSettings, config="nboard", log_to=sys.stderr)
def nboard_program(settings: NBoardSettings) -> None:
    """Run a player as an engine of the NBoard protocol, for Othello.

    NBoard and other boards can then play against it and show its hints.

    selfplay nboard
    selfplay nboard 'player=search:negascout?depth=6&evaluation=article&endgame=14'
    """
    _answer(NBoardEngine, settings)


@partial(Program, kind=UciSettings, config="uci", log_to=sys.stderr)
def uci_program(settings: UciSettings) -> None:
    """Run a player as an engine of the Universal Chess Interface (UCI), with the variants of Fairy-Stockfish.

    Cute Chess and other programs can then play against it.

    selfplay uci
    selfplay uci --game connect_four player=perfect
    """
    _answer(UciEngine, settings)


def _answer(protocol: Callable[..., LineEngine], settings: EngineSettings) -> None:
    """Let an engine of a protocol answer the lines on stdin on stdout."""
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    engine = make_engine(protocol, Run.of(settings))
    answer_lines(engine, command_lines(sys.stdin), lambda text: print(text, end="", flush=True))


@partial(Program, kind=MatchSettings, config="matches")
def play_matches_program(settings: MatchSettings) -> None:
    """Play matches between two players, with running counts.

    Players that learn from matches do so.

    selfplay play-matches first=random second=perfect matches=1000
    selfplay play-matches first=random second=experience matches=200 swap=true
    selfplay play-matches first=random second=experience matches=4 show=true
    selfplay play-matches first=level:10 'second=level:9?depth=2&epsilon=0.1' run_dir=outputs/try

    Results are counted for the players by their names; if both names are equal, by seat.
    """
    play_match_series(settings, progress_bar)


@partial(Program, kind=TournamentSettings, config="tournament")
def tournament_program(settings: TournamentSettings) -> None:
    """Play a round robin: a cross-table, ratings, exact results and a heat map.

    selfplay tournament players=[random,perfect,level:10,tabular:backward_value]
    selfplay tournament 'players=[random,level:10,level:10?depth=2]' matches=2000 run_dir=outputs/try
    """
    # matplotlib takes as long to import as the rest of the program.
    from selfplay.stages.tournament import play_tournament, tournament_report

    print(f"\n{tournament_report(play_tournament(settings, progress_bar))}")
