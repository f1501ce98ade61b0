"""The requests about games: their opponents, proofs and stories."""

import asyncio
import hashlib
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Path, Query, Request, Response, status

from selfplay.web.how_to_play import how_to_play
from selfplay.web.matches import MatchService
from selfplay.web.runs import run_views
from selfplay.web.schemas import GameView, OpponentsView, ProofView, RulesView
from selfplay.web.story import story_of
from selfplay.web.story_schemas import RunView, StoryView
from selfplay.web.waiting_clients import while_waiting

RunId = Annotated[
    str | None,
    Query(min_length=1, max_length=1000, description="The id of another run of the game; left out: its own."),
]
GameName = Annotated[str, Path(min_length=1, max_length=100)]


def game_routes(service: MatchService) -> APIRouter:
    """The requests about games, their opponents, proofs and stories."""
    router = APIRouter(prefix="/api/games", tags=["games"])
    proving = asyncio.Lock()

    @router.get("", summary="List the games", operation_id="games")
    async def games() -> list[GameView]:
        return list(map(service.catalog.game_view, service.catalog.games.values()))

    @router.get("/{game}", summary="Describe a game, which may have other options", operation_id="game")
    async def game_of(game: GameName) -> GameView:
        return service.catalog.game_view(await run_sync(service.catalog.game, game))

    @router.get("/{game}/opponents", summary="List the opponents", operation_id="opponents")
    async def opponents(game: GameName) -> OpponentsView:
        return await run_sync(service.catalog.opponents, service.catalog.game(game))

    @router.get("/{game}/rules", summary="Explain the rules", operation_id="rules")
    async def rules(game: GameName) -> RulesView:
        return await run_sync(how_to_play, service.catalog.game(game))

    @router.get("/{game}/proof", summary="Prove whether an opponent can lose", operation_id="proof")
    async def proof(
        request: Request, game: GameName, opponent: Annotated[str, Query(min_length=1, max_length=100)]
    ) -> ProofView:
        """Proofs take long, so only one is made at a time, and none for a client that has left."""
        found = await run_sync(service.catalog.opponent, service.catalog.game(game), opponent)
        async with while_waiting(request) as deadline, proving:
            with deadline.applied():
                return await run_sync(service.proofs.of, service.catalog.game(game), found)

    @router.get("/{game}/runs", summary="List the other runs", operation_id="runs")
    async def runs(game: GameName) -> list[RunView]:
        return await run_sync(run_views, service.catalog, service.catalog.game(game))

    @router.get(
        "/{game}/story",
        summary="Show the training and results of the run",
        operation_id="story",
        response_model=StoryView,
        responses={304: {"description": "Not changed since the ETag that was sent."}},
    )
    async def story(
        game: GameName, run: RunId = None, if_none_match: Annotated[str | None, Header()] = None
    ) -> Response:
        found = await run_sync(story_of, service.catalog, service.catalog.game(game), run)
        body = found.model_dump_json().encode()
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if if_none_match == etag:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers={"ETag": etag})
        return Response(body, media_type="application/json", headers={"ETag": etag})

    return router
