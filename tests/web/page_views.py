"""Matches as the page shows them, made of their data by the module of the page in node."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.installation import PACKAGE_FOLDER
from selfplay.playing.match_description import MatchData, describe
from selfplay.playing.session import Session
from selfplay.web.opponents import OpponentCatalog
from tests.web.conftest import web_settings

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

SCRIPT = """
import { readFileSync } from "node:fs";
import { viewOf } from "./view.js";

const shown = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(shown.map(({ game, data }) => viewOf(game, data))));
"""


def session_after(game: Game, moves: str) -> Session:
    """A match of two people after these moves."""
    session = Session(game, (None, None), 0)
    session.resume(Match(game).play_all(game.read_transcript(moves)))
    return session


def data_after(game: Game, moves: str) -> MatchData:
    """The data of this match."""
    return describe(session_after(game, moves))


def run_in_page(folder: Path, script: str, given: object = None) -> Any:
    """What a script prints in JSON, beside the modules of the page, which are copied to `folder`."""
    shutil.copytree(PACKAGE_FOLDER / "web" / "page", folder, dirs_exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "script.mjs").write_text(script)
    asked = json.dumps(given)
    node = subprocess.run(["node", "script.mjs"], input=asked, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(node.stdout)


def served(folder: Path, matches: Iterable[tuple[Game, MatchData]]) -> list[dict[str, Any]]:
    """Each match and its game as the server describes them."""
    catalog = OpponentCatalog(web_settings(folder / "run"))
    return [{"game": catalog.game_view(game).model_dump(mode="json"), "data": asdict(data)} for game, data in matches]


def page_views(folder: Path, matches: Iterable[tuple[Game, MatchData]]) -> list[dict[str, Any]]:
    """What the page shows of each match."""
    views: list[dict[str, Any]] = run_in_page(folder, SCRIPT, served(folder, matches))
    return views
