"""Measure in Chromium how long the replies of strengths take on an exported page, by the plies that they look ahead.

    python benchmarks/exported_strengths.py
    python benchmarks/exported_strengths.py othello --depths 6 7 8 --positions 20

Prints seconds of processor time, the median and the longest of all positions, which are those of matches of Medium with
a smaller depth against itself. `selfplay/web/exported_opponents.py` has the depths that were chosen.
"""

import project_environment

import argparse
import shutil
import threading
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

from selfplay.cli.entry import reporting_errors
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.export_page import export_page

GAMES = (
    *("connect_four", "othello", "othello_6x6", "breakthrough", "breakthrough_6x6", "breakthrough_8x8"),
    *("draughts", "nine_mens_morris"),
)
"""Those whose strengths search by alpha-beta with the pretrained agent."""
SEEN = ("hard", "strongest")
"""The strengths measured: one that draws by the values of all good actions, and the one that needs only the best."""

SETUP = """
async ({ count }) => {
  const description = await (await fetch("local/game.json")).json();
  const { Game } = await import("./local/game.js");
  const { loadAgent } = await import("./local/agent.js");
  const { drawsOf } = await import("./local/random.js");
  const { Strength } = await import("./local/strengths.js");
  const agent = await loadAgent(description, new URL("local/agent.bin", location.href));
  const game = new Game(description);
  const made = (name, depth) => new Strength({ ...description.ways[name], depth }, description, game, agent);
  const player = made("medium", 2);
  const states = [];
  for (let match = 0; states.length < count; match += 1) {
    let state = game.start();
    for (let ply = 0; !state.isOver; ply += 1) {
      if (ply % 7 === match % 7) {
        states.push(state);
      }
      state = game.step(state, player.act(state, drawsOf(1n, match, ply)));
    }
  }
  const [step, bits] = [states.length / count, drawsOf(1n, 0, 0)];
  window.reply = (name, depth, number) => made(name, depth).act(states[Math.floor(number * step)], bits);
  return Object.fromEntries(Object.entries(description.ways).map(([name, { depth = null }]) => [name, depth]));
}
"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def seconds_of(session: CDPSession) -> float:
    """The processor time of the page so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def measure(page: Page, game: str, folder: Path, given: Any) -> None:
    export_page(
        ExportPageSettings(str(folder), GameSettings(game), opponent="pretrained", output_dir=str(folder / "site"))
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    chosen = page.evaluate(SETUP, {"count": given.positions})
    for name in (name for name in SEEN if name in chosen):
        for depth in given.depths:
            times = list[float]()
            for number in range(given.positions):
                before = seconds_of(session)
                page.evaluate("([name, depth, number]) => reply(name, depth, number)", [name, depth, number])
                times.append(seconds_of(session) - before)
            mark = " (chosen)" if depth == chosen[name] else ""
            print(f"{game:18} {name:10} {depth:3} plies {median(times):8.3f} {max(times):8.3f}{mark}", flush=True)
            if max(times) > given.seconds:
                break
    server.shutdown()
    server.server_close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--depths", type=int, nargs="+", default=range(3, 11))
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=3.0, help="no deeper than where a reply takes longer")
    given = parser.parse_args(arguments)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for game in given.games:
            with TemporaryDirectory() as folder:
                measure(browser.new_page(), game, Path(folder), given)
        browser.close()


if __name__ == "__main__":
    with reporting_errors():
        main()
