"""The requests about games: their opponents, proofs and stories."""

import hashlib
from collections.abc import Callable, Hashable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response, status

from selfplay.games import Game
from selfplay.web.game_schemas import GameView, OpponentsView, PreparationView, ProofView, RulesView
from selfplay.web.how_to_play import how_to_play
from selfplay.web.match_service import MatchService
from selfplay.web.runs import run_views
from selfplay.web.story import story_of
from selfplay.web.story_schemas import RunView, StoryView
from selfplay.web.waiting_clients import Answer, SharedWork, client_of, while_waiting

RunId = Annotated[
    str | None,
    Query(min_length=1, max_length=1000, description="The id of another run of the game; left out: its own."),
]
GameName = Annotated[str, Path(min_length=1, max_length=100)]


def game_routes(service: MatchService) -> APIRouter:
    """The requests about games, their opponents, proofs and stories."""
    router = APIRouter(prefix="/api/games", tags=["games"])

    async def result(
        work: SharedWork, key: tuple[Hashable, ...], made: Callable[[], Answer], request: Request
    ) -> Answer:
        """The result of work for a client, as long as it waits. Raises BusyError."""
        with service.slow_requests.counted(client_of(request.scope)):
            async with while_waiting(request):
                return await work.result(key, made, request, group=key[1])

    @router.get("", summary="List the games", operation_id="games")
    async def games() -> list[GameView]:
        return list(map(service.catalog.game_view, service.catalog.games.values()))

    @router.get("/{game}", summary="Describe a game, which may have other options", operation_id="game")
    async def game_of(request: Request, game: GameName) -> GameView:
        return service.catalog.game_view(await service.game(game, request))

    @router.get("/{game}/opponents", summary="List the opponents", operation_id="opponents")
    async def opponents(request: Request, game: GameName) -> OpponentsView:
        of = await service.game(game, request)
        return await result(service.reading, ("opponents", game), partial(service.catalog.opponents, of), request)

    @router.get("/{game}/rules", summary="Explain the rules", operation_id="rules")
    async def rules(request: Request, game: GameName) -> RulesView:
        of = await service.game(game, request)
        return await result(service.reading, ("rules", game), partial(how_to_play, of), request)

    @router.get("/{game}/proof", summary="Prove whether an opponent can lose", operation_id="proof")
    async def proof(
        request: Request, game: GameName, opponent: Annotated[str, Query(min_length=1, max_length=100)]
    ) -> ProofView:
        """Proofs take long, so a client has one at a time, and none is made for clients that have left."""
        of = await service.game(game, request)
        key, prove = ("proof", game, opponent), partial(service.proofs.of, of, opponent)
        return await result(service.proving, key, prove, request)

    @router.get("/{game}/preparation", summary="Say how far an opponent is prepared", operation_id="preparation")
    async def preparation(
        request: Request, game: GameName, opponent: Annotated[str, Query(min_length=1, max_length=100)]
    ) -> PreparationView:
        """Opponents are prepared for requests about matches, which wait for it; this one does not."""
        of = await service.game(game, request)
        return await result(service.reading, ("preparation", game, opponent), partial(prepared, of, opponent), request)

    def prepared(game: Game, opponent: str) -> PreparationView:
        offer = service.catalog.opponent(game, opponent)
        progress, is_ready = service.players.progress(game, offer), service.players.is_loaded(game, offer)
        compiled, functions, seconds = progress or (0, 0, 0.0)
        return PreparationView(
            is_ready=is_ready,
            is_loading=progress is not None,
            compiled=compiled,
            functions=functions,
            seconds=seconds,
        )

    @router.get("/{game}/runs", summary="List the other runs", operation_id="runs")
    async def runs(request: Request, game: GameName) -> list[RunView]:
        of = await service.game(game, request)
        return await result(service.reading, ("runs", game), partial(run_views, service.catalog, of), request)

    @router.get(
        "/{game}/story",
        summary="Show the training and results of the run",
        operation_id="story",
        response_model=StoryView,
        responses={304: {"description": "Not changed since the ETag that was sent."}},
    )
    async def story(
        request: Request, game: GameName, run: RunId = None, if_none_match: Annotated[str | None, Header()] = None
    ) -> Response:
        of = await service.game(game, request)

        def body_and_etag() -> tuple[bytes, str]:
            body = story_of(service.catalog, of, run).model_dump_json().encode()
            return body, f'"{hashlib.sha256(body).hexdigest()}"'

        body, etag = await result(service.reading, ("story", game, run), body_and_etag, request)
        if if_none_match == etag:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers={"ETag": etag})
        return Response(body, media_type="application/json", headers={"ETag": etag})

    return router
