"""The server as an ASGI application: the page, and the requests of the page under /api."""

from fastapi import FastAPI

from selfplay.settings.web import WebSettings
from selfplay.web.error_responses import add_error_handlers
from selfplay.web.match_service import MatchService
from selfplay.web.request_checks import RequestChecks
from selfplay.web.routes import game_routes, match_routes
from selfplay.web.static_files import add_static_files


def create_app(service: MatchService) -> FastAPI:
    """The application that serves the matches of `service`."""
    app = FastAPI(
        title="selfplay",
        description="Matches against agents that learned by self-play, and the story of their training.",
        version="1",
        # FastAPI's documentation pages load scripts from other servers; the one served here is a static file.
        docs_url=None,
        redoc_url=None,
    )
    # Routes are searched in this order, and most requests are about matches.
    app.include_router(match_routes(service))
    app.include_router(game_routes(service))
    add_static_files(app)
    add_error_handlers(app)
    app.add_middleware(RequestChecks, hosts=allowed_hosts(service.settings))
    return app


def allowed_hosts(settings: WebSettings) -> set[str]:
    """The values allowed in the Host header, without a port: the names of the server, and those of this computer."""
    names = (name.strip("[]").lower() for name in (settings.host, *settings.hosts))
    return {f"[{name}]" if ":" in name else name for name in names} | {"localhost", "127.0.0.1", "[::1]"}
