"""A file matplotlibrc in the current folder does not change figures."""

import subprocess
import sys

DRAW = """
import sys
from pathlib import Path
from selfplay.figures.style import save_figure, single_figure
figure, axes = single_figure("title", "x", "y")
axes.plot([1, 2, 3])
save_figure(figure, Path(sys.argv[1]))
"""


def test_a_matplotlibrc_in_the_current_folder_changes_nothing(tmp_path):
    for name, content in (("plain", ""), ("odd", "font.size: 30\naxes.facecolor: red\nsavefig.facecolor: green\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "matplotlibrc").write_text(content)
        subprocess.run([sys.executable, "-c", DRAW, tmp_path / f"{name}.png"], cwd=tmp_path / name, check=True)
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "odd.png").read_bytes()
