"""Programs that check, fit and export."""

import shlex
import sys
from functools import partial
from pathlib import Path

from selfplay.cli.command import Program
from selfplay.errors import SettingError
from selfplay.games import Game, conformance, make_game
from selfplay.installation import require_package
from selfplay.runs.command_lines import executable
from selfplay.settings.evaluation import ExportSettings, ProbCutSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.settings.tools import CheckGameSettings, ExportOnnxSettings
from selfplay.stages import search_files
from selfplay.web.javascript_conformance import compare_in_javascript


@partial(Program, kind=CheckGameSettings, config="check_game")
def check_game_program(settings: CheckGameSettings) -> None:
    """Check that a game meets the contract of games, for example one of your own.

    selfplay check-game game=my_module:Connect3
    selfplay check-game game=my_module:Connect3 perft=[3,9,27,81,240]

    Plays random matches and compares everything that the game provides. Nobody but you can check who wins: write a test
    with a match won by each side.
    """
    game, perft = make_game(settings.game.name), settings.perft or []
    played = conformance.check_game(game, perft)
    counts, in_javascript = [] if perft else conformance.counts_of_sequences(game), _in_javascript(game)
    print(f"{game.name}: accepted: legality, perspective, symmetries, texts, ends, points, observations, and compiled")
    print("and uncompiled rules agree in random matches" + (", as do the counts of sequences" if perft else ""))
    print(f"played: {played.matches:,} matches of {played.plies:,} plies, {played.compared:,} of them also uncompiled")
    won, drawn, lost = (f"{100 * rate:.1f} %" for rate in played.results.rates)
    print(f"who moves first at random wins {won} of them, draws {drawn} and loses {lost}")
    print(f"symmetries: {len(game.symmetries.actions)}, {'declared' if game.declares_symmetries else 'found'}")
    print(f"rules in JavaScript, for exported pages: {in_javascript}")
    if counts:
        text = f"sequences of 1 to {len(counts)} plies: {' '.join(map(str, counts))}"
        print(f"{text}; compare them with an independent count")


def _in_javascript(game: Game) -> str:
    try:
        skipped = compare_in_javascript(game)
    except SettingError as error:
        return f"none: {error}"
    return "agree in random matches" if skipped is None else f"not compared: {skipped}"


@partial(Program, kind=ExportSettings, config="export_evaluation")
def export_evaluation_program(settings: ExportSettings) -> None:
    """Write the feature weights that a level has learned as an evaluation for searches.

    selfplay export-evaluation --level 3
    selfplay export-evaluation --level 2 game=othello_6x6 file=my_evaluation.yaml
    """
    search_files.export_evaluation(settings)


@partial(Program, kind=ExportOnnxSettings, config="export_onnx")
def export_onnx_program(settings: ExportOnnxSettings) -> None:
    """Write the network of a level as an ONNX file.

    selfplay export-onnx run_dir=outputs/tictactoe
    selfplay export-onnx run_dir=outputs/connect3 level=3 file=connect3.onnx modules=[connect3]

    The file is checked with onnxruntime in positions of random matches. Its input is the position seen by the player
    who has just moved, float32[N, *observation_shape]; its outputs are that player's value and, if there is one, the
    policy.
    """
    for package in ("onnx", "onnxruntime"):
        require_package("export-onnx", package, "onnx")
    from selfplay.adapters.onnx import export_level

    exported = export_level(settings.run_dir, settings.file, settings.level)
    print(f"wrote {exported.path}: observation to {' and '.join(exported.outputs)}, as torch computes it")


@partial(Program, kind=ExportPageSettings, config="export_page")
def export_page_program(settings: ExportPageSettings) -> None:
    """Write the page of a game as static files, with an agent that runs in the browser.

    selfplay export-page game=connect_four
    selfplay export-page game=connect_four run_dir=outputs/connect_four output_dir=site
    selfplay export-page game=othello opponent=pretrained output_dir=site search_seconds=1

    Any web host can serve the folder, for example python -m http.server --directory site. Agents for games with a
    board can be exported, with every architecture that comes with the program except othello_features.
    """
    # It needs the optional packages of the page, and says so.
    from selfplay.web.export_page import export_page

    page = export_page(settings)
    print(f"wrote {page.folder}: {page.agent}, {page.size:,} bytes, of which {page.weights_size:,} are the weights")
    python = executable(Path(sys.executable).name)
    print(f"serve it with: {python} -m http.server --directory {shlex.quote(str(page.folder))}")


@partial(Program, kind=ProbCutSettings, config="fit_probcut")
def fit_probcut_program(settings: ProbCutSettings) -> None:
    """Fit ProbCut for a level: how well its shallow searches predict its deep ones.

    selfplay fit-probcut --level 20 game=othello
    selfplay fit-probcut game=connect_four run_dir=my_run deepest=10 positions=5000

    The option probcut of searches then cuts where a shallow search predicts the result:
    search:negascout?depth=10&evaluation=level:20&probcut=1.5
    """
    search_files.fit_probcut(settings)
