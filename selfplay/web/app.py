"""The server as an application: the page, its OpenAPI description, and what the page asks for below /api."""

from fastapi import FastAPI

from selfplay.web.error_responses import add_error_handlers
from selfplay.web.match_service import MatchService
from selfplay.web.request_limits import RequestLimits
from selfplay.web.routes import game_routes, match_routes
from selfplay.web.static_files import add_static_files


def create_app(service: MatchService) -> FastAPI:
    """The server as an ASGI application, with what it holds."""
    app = FastAPI(
        title="selfplay",
        description="Matches against agents that learned by self-play, and the story of how they learned.",
        version="1",
        # The usual pages fetch their programs from elsewhere; ours is in pages.py.
        docs_url=None,
        redoc_url=None,
    )
    # Looked through in this order at each request, most of which are about matches.
    app.include_router(match_routes(service))
    app.include_router(game_routes(service))
    add_static_files(app)
    add_error_handlers(app)
    app.add_middleware(RequestLimits, hosts=allowed_hosts(service.settings.host))
    return app


def allowed_hosts(host: str) -> set[str] | None:
    """By which names the server may be called that listens at `host`; None: any, where other machines may."""
    if host in ("0.0.0.0", "::"):
        return None
    return {f"[{host.strip('[]')}]" if ":" in host else host.lower(), "localhost", "127.0.0.1", "[::1]"}
