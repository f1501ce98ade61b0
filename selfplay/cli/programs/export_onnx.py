"""Write the network of a level as an ONNX file.

selfplay export-onnx outputs/tictactoe
selfplay export-onnx outputs/connect3 --level 3 --file connect3.onnx --modules connect3

The file is checked with onnxruntime in positions of random matches. Its input is the position seen by the player who
has just moved, float32[N, *observation_shape]; its outputs are that player's value and, if there is one, the policy.
"""

from selfplay.cli.command import ArgumentParser, reporting_errors
from selfplay.registry import name_modules
from selfplay.settings.checks import require_package


def export() -> None:
    parser = ArgumentParser("export-onnx", __doc__)
    parser.add_argument("run_dir", help="the folder of the run")
    parser.add_argument("--level", type=int, help="the level; the newest by default")
    parser.add_argument("--file", default="agent.onnx", help="the file to write")
    parser.add_argument("--modules", nargs="+", default=[], help="modules of your own that the files may name")
    options = parser.parse_args()
    for package in ("onnx", "onnxruntime"):
        require_package("export-onnx", package, "onnx")
    name_modules(options.modules)
    from selfplay.adapters.onnx import export_level

    exported = export_level(options.run_dir, options.file, options.level)
    print(f"wrote {exported.path}: observation to {' and '.join(exported.outputs)}, as torch computes it")


def main() -> None:
    with reporting_errors():
        export()
