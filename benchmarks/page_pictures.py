"""Draw the pictures of the page in docs/, in Chromium.

python benchmarks/page_pictures.py
python benchmarks/page_pictures.py run_dir=outputs/tictactoe runs=outputs

Needs two runs of tic-tac-toe, `./learn_tictactoe.sh` and `./learn_tictactoe.sh recipe=article run_dir=outputs/article`:
`run_dir` is the first, whose level 10 plays, and the other one is found in the folder `runs`.
"""

import project_environment

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from selfplay.cli.entry import reporting_errors
from selfplay.errors import SettingError
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.runs.run_folder import path_text

WIDE, HIGH = {"width": 1280, "height": 720}, {"width": 1280, "height": 914}
SCALE = 0.7
MATCHES = {
    "board": "tictactoe?opponent=level-10&person=first&seed=3&moves=1,1&analyse=1&values=adviser",
    "connect_four": "connect_four?opponent=medium&person=first&seed=3&moves=4+4+4+4+4+1&analyse=1",
    "othello": "othello?opponent=medium&person=first&seed=3&moves=f5d6c3d3c4f4f6f3e6e7&analyse=1",
}
STORY = "tictactoe?run={other}&hidden=3,4,5,6,8,9,10,11,12,13,14,15,16"
DEFAULTS = {"run_dir": str(PROJECT_FOLDER / "outputs" / "tictactoe"), "runs": str(PROJECT_FOLDER / "outputs")}


def draw(page: Page, address: str, name: str) -> None:
    """Save the picture docs/page_NAME.png of the page at this address, once all values have come."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=PROJECT_FOLDER / "docs" / f"page_{name}.png")


def draw_all(port: int, other: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        context = browser.new_context(viewport=WIDE, device_scale_factor=SCALE, reduced_motion="reduce")
        page = context.new_page()
        for name, match in MATCHES.items():
            draw(page, f"http://127.0.0.1:{port}/#play/{match}", name)
        page.set_viewport_size(HIGH)
        draw(page, f"http://127.0.0.1:{port}/#story/{STORY.format(other=other)}", "story")
        browser.close()


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    if len(given) != len(sys.argv) - 1 or not set(given) <= set(DEFAULTS):
        raise SettingError(f"give only {', '.join(f'{name}=' for name in DEFAULTS)}")
    options = DEFAULTS | given
    folders = [f"run_dir={Path(options['run_dir']).resolve()}", f"other_runs={Path(options['runs']).resolve()}"]
    command = [sys.executable, str(PROJECT_FOLDER / "play" / "web.py"), "port=0", *folders]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().split("127.0.0.1:")[1].split()[0])
            draw_all(port, path_text(Path(options["runs"]) / "article"))
        finally:
            server.terminate()


if __name__ == "__main__":
    with reporting_errors():
        main()
