"""Exports the page with one agent as static files: the game, the agent and the search run in the browser.

The files of the page are copied. `exported/` holds the modules that answer its requests in place of the server. Beside
them are the rules of the game, translated to JavaScript, the weights, and the server's description of the game.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from selfplay.agents.agent import Agent
from selfplay.agents.pretrained import PRETRAINED, find_pretrained
from selfplay.checks import require
from selfplay.compute.positions import pack
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.files import written_whole
from selfplay.games import Game
from selfplay.games.dead_stones import PLAYOUTS, SURVIVAL
from selfplay.games.observation_codec import shown_entries
from selfplay.games.outcomes import OUTCOMES, EndValues
from selfplay.games.patterns import phase_of
from selfplay.games.presentation import Presentation
from selfplay.installation import require_package
from selfplay.named_players.names import kind_named, parse_name
from selfplay.named_players.strengths import STRENGTHS, plays_random_matches
from selfplay.players.player import RandomPlayer
from selfplay.runs.levels import agent_of_level, best_level
from selfplay.settings.playing import ExportPageSettings, WebSettings
from selfplay.settings.run import Run
from selfplay.web.exported_network import PageNetwork, exported_network, packed
from selfplay.web.exported_opponents import SEARCHES, exported_strengths, not_made, other_opponents
from selfplay.web.game_schemas import OfferedPlayer, OpponentsView
from selfplay.web.how_to_play import how_to_play
from selfplay.web.javascript_values import NUMBER, WORD, Kind
from selfplay.web.match_schemas import MatchRequest, People, ServedMatch
from selfplay.web.opponents import STRENGTH_WORDS, OpponentCatalog
from selfplay.web.participants import Participant, Participants
from selfplay.web.recent_estimates import RecentEstimates
from selfplay.web.requested_match import RequestedMatch
from selfplay.web.rules_in_javascript import javascript_of

LOCAL = "local"
"""The folder of the files that replace the server."""
DESCRIPTION = f"{LOCAL}/game.json"
"""The file that marks a folder as an exported page. It is written first, so that an interrupted export can be
repeated."""
NOT_EXPORTED = ("docs.html", "docs.js")
UNBOUNDED = 10**9
"""More points than any match has, where a game does not say how many there can be."""
INDEX_CHANGES = {r' <a href="docs">[^<]*</a>': "", r'id="to-story"': 'id="to-story" hidden'}
"""Changes of index.html: what needs a server is left out."""


class ExportedPage(NamedTuple):
    """What was written."""

    folder: Path
    agent: str
    """The name of the agent."""
    size: int
    """Bytes of all files."""
    weights_size: int
    """Bytes of the file of the weights."""


def export_page(settings: ExportPageSettings) -> ExportedPage:
    """Write the page of `settings.game` with an agent to `settings.output_dir`.

    Raises:
        SettingError: the game has no board, a rule or the network cannot be exported, or the folder holds other files.
        StageError: the run has no such level, or a file cannot be written.
        InvalidFileError: the file of the agent is broken.
    """
    require_package("export-page", "fastapi", "page")
    folder = Path(settings.output_dir)
    # A kill while the first file is written leaves a hidden file.
    others = (path for path in folder.rglob("*") if not path.is_dir() and not path.match(".*.partial"))
    is_free = (folder / DESCRIPTION).exists() or (not folder.is_file() and not any(others))
    require("output_dir", settings.output_dir, is_free, "a new or empty folder, or that of an exported page")
    run = Run.of(settings)
    game = run.game
    if game.num_squares is None:
        raise SettingError(f"game={game.name}: only games with a board of squares can be exported")
    agent = _agent(run)
    network = exported_network(agent)
    written = {
        DESCRIPTION: json.dumps(page_description(game, agent, network, settings)).encode(),
        f"{LOCAL}/rules.js": rules_of(game).encode(),
        f"{LOCAL}/agent.bin": packed(network.arrays),
        **dict(_static_files()),
    }
    for name, content in written.items():
        with written_whole(folder / name) as beside:
            beside.write_bytes(content)
    size = sum(map(len, written.values()))
    return ExportedPage(folder, agent.name, size, len(written[f"{LOCAL}/agent.bin"]))


def _agent(run: Run[ExportPageSettings]) -> Agent:
    settings, game, run_dir = run.settings, run.game, run.folder.path
    has_pretrained = find_pretrained(game.learned_as()) is not None
    if settings.opponent is None and (run.folder.newest_level() or not has_pretrained):
        best = best_level(run.folder)
        return agent_of_level(run_dir, None if best is None else best.level, game)
    name = parse_name(settings.opponent or PRETRAINED)
    kind = kind_named(name.kind)
    if kind.agent is None or name.given:
        raise SettingError(
            f"opponent={settings.opponent}: must be a learned agent without options: level:L or pretrained"
        )
    return kind.agent(name, game, run_dir)


def _static_files() -> Iterator[tuple[str, bytes]]:
    """The files of the page, changed where they ask the server, and the modules that answer instead."""
    web = files("selfplay.web")
    for file in (web / "page").iterdir():
        content = file.read_bytes()
        if file.name == "index.html":
            text = content.decode()
            for pattern, replacement in INDEX_CHANGES.items():
                text = re.sub(pattern, replacement, text)
            yield file.name, text.encode()
        elif file.name == "api.js":
            yield f"page/{file.name}", f'import {{ fetch }} from "../{LOCAL}/server.js";\n'.encode() + content
        elif file.name not in NOT_EXPORTED:
            yield f"page/{file.name}", content
    for file in (web / "exported").iterdir():
        yield f"{LOCAL}/{file.name}", file.read_bytes()


# ---------------------------------------------------------------------- the game


def rules_of(game: Game) -> str:
    """The rules as a JavaScript module. Raises SettingError as `javascript_of`."""
    rules, position = game.rules, game.rules.position
    functions: dict[str, tuple[Callable[..., Any] | None, Sequence[Kind]]] = {
        "legalActions": (rules.legal_actions, [position]),
        "play": (rules.play, [position, NUMBER]),
        "isTerminal": (rules.is_terminal, [position]),
        "returnToMove": (rules.return_to_move, [position]),
        "observed": (rules.observed, [position]),
        "movesAgain": (rules.moves_again, [position]),
        "margin": (rules.margin, [position]),
        "owned": (rules.owned, [position]),
        "safe": (rules.safe, [position]),
        "points": (rules.points, [position]),
        "sensible": (rules.sensible, [position]),
        "phaseOf": (phase_of, [WORD, WORD, NUMBER, NUMBER, NUMBER]),
    }
    written = {name: (rule, kinds) for name, (rule, kinds) in functions.items() if rule is not None}
    return javascript_of(written, position)


def page_description(game: Game, agent: Agent, network: PageNetwork, settings: ExportPageSettings) -> dict[str, Any]:
    """game.json: the server's description of the game and its opponents, and the data that the modules need."""
    presentation = game.presentation
    ends: EndValues = OUTCOMES[agent.checkpoint.metadata["outcome"]](game)
    actions = range(game.num_distinct_actions)
    texts = [[game.action_text(action, player) for action in actions] for player in (0, 1)]
    in_words = [presentation.action_in_words(action) for action in actions]
    catalog = OpponentCatalog(WebSettings(run_dir=settings.run_dir, game=settings.game))
    run_dir = Path(settings.run_dir)
    with_rollouts = plays_random_matches(game, run_dir)
    strong = exported_strengths(game, agent, run_dir)
    strongest = next((way for offer, way in strong.items() if offer.id == STRENGTHS[-1]), {})
    played = other_opponents(agent, network, settings.search_seconds, strongest, with_rollouts=with_rollouts)
    ways = {offer.id: way for offer, way in (strong | played).items()}
    offer = OpponentsView(
        opponents=[*strong, *played],
        strengths={word: name for word, name in STRENGTH_WORDS.items() if name in ways},
        default=next(iter(ways)),
        notes=[f"This page was exported with one agent ({agent.name}), which runs in your browser."],
    )
    return {
        "view": catalog.game_view(game).model_dump(mode="json")
        | {"can_be_set_up": False, "options": [], "handicaps": {}},
        "offer": offer.model_dump(mode="json"),
        "rules": how_to_play(game).model_dump(mode="json"),
        "ways": ways,
        "judge": next(opponent.id for opponent, way in played.items() if way["kind"] in SEARCHES),
        "seconds": settings.search_seconds,
        **_templates(game),
        "key": str(stream_key(settings.seed, 0, Activity.VERSUS_PERSON)),
        "initial": str(int(pack(game.rules.initial))),
        "set_up": [str(int(pack(game.position_set_up(0, 0, seat)))) for seat in (0, 1) if game.can_be_set_up],
        "dead_stones": {"playouts": PLAYOUTS, "survival": SURVIVAL},
        **_shown(game),
        "num_squares": game.num_squares,
        "has_stones": game.has_stones,
        "num_actions": game.num_distinct_actions,
        "pass_action": game.pass_action,
        "texts": texts,
        "words": [None if words == game.action_to_string(action) else words for action, words in enumerate(in_words)],
        "names_squares": presentation.names_squares,
        "pointed": [list(presentation.pointed_squares(action)) for action in actions],
        "is_known": presentation.found_squares.is_known if presentation.finds_squares else None,
        "separator": "" if game.write_transcript([0, 1]) == texts[0][0] + texts[1][1] else " ",
        "writes_passes": game.pass_action is not None and game.write_transcript([game.pass_action]) != "",
        "mark_fields": list(presentation.shown_marks),
        "number_fields": _number_fields(presentation),
        "ko_field": presentation.ko_field,
        "margin_unit": game.rules.margin_unit,
        "most_points": None if game.rules.margin is None else game.largest_lead or UNBOUNDED,
        "ends": ends._replace(point=ends.point * game.rules.margin_unit)._asdict(),
        "points_per_value": ends.points_per_value,
        "network": network.description,
        "arrays": [
            {"name": name, "type": str(array.dtype), "length": array.size} for name, array in network.arrays.items()
        ],
    }


def _shown(game: Game) -> dict[str, list[int]]:
    """The lowest bit that each entry of observations shows, and the largest value of each."""
    shown = shown_entries(game.rules.shown, game.observation_shape)
    return {"shown": shown.lowest.tolist(), "limits": shown.entries.limits.tolist()}


def _number_fields(presentation: Presentation) -> list[str]:
    """The numbers that the page shows beside a board; none where a presentation puts them into words in Python."""
    is_usual = type(presentation).numbers_text is Presentation.numbers_text
    return presentation.shown_numbers if is_usual else []


def _templates(game: Game) -> dict[str, Any]:
    """A match, a legal action and a ply as the server describes them; exported/match.js changes what varies."""
    player = RandomPlayer(game)
    offer = OfferedPlayer("random", "random", "Random", "", not_made)
    participant = Participant(offer, player)
    participants = Participants(participant, None, None, participant, lambda: participant)

    def view(moves: str) -> dict[str, Any]:
        request = MatchRequest(game=game.name, opponent="random", person=People.BOTH, moves=moves)
        shown = RequestedMatch(request, game, participants, 0, RecentEstimates()).view()
        described: dict[str, Any] = TypeAdapter(ServedMatch).dump_python(shown, mode="json")
        return described

    begun = view("")
    played = view(begun["legal"][0]["text"])
    return {"match": begun, "action": begun["legal"][0], "ply": played["plies"][0]}
