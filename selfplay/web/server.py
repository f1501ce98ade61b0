"""Runs the server."""

import logging
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from selfplay.errors import SettingError, StageError
from selfplay.settings.command_lines import require_package
from selfplay.settings.playing import WebSettings

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

log = logging.getLogger(__name__)

NEEDED = ("fastapi", "uvicorn")
MOST_CONNECTIONS, MOST_HEAD_BYTES, IDLE_SECONDS = 400, 16_384, 10


def serve(settings: WebSettings) -> None:
    """Serve the page until Ctrl-C.

    Raises:
        StageError: it cannot listen on the address.
        SettingError: a package that it needs is not installed; or it would listen on all addresses of this computer,
            and `hosts` is empty.
    """
    for package in NEEDED:
        require_package("the page", package, "page")
    listening = _listen(settings)
    import uvicorn

    from selfplay.web.app import create_app
    from selfplay.web.matches import MatchService

    app = create_app(MatchService(settings))
    # Not before: a browser would wait for an answer.
    listening.listen(128)
    log.info("Play at %s (press Ctrl-C to stop)", address_of(settings, listening))
    if not ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback:
        log.warning("Other computers in the network can reach this page, and everyone who can may play.")
    # Ctrl-C is the normal way to stop the server.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(server_config(app)).run(sockets=[listening])
    log.info("The server has stopped.")


def server_config(app: "FastAPI") -> "uvicorn.Config":
    """How the application is served: with limits of connections and headers, and nothing but HTTP."""
    import uvicorn

    # Clients are told apart by their address, which a header must not change.
    return uvicorn.Config(
        app,
        port=0,
        http="h11",
        ws="none",
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        timeout_keep_alive=IDLE_SECONDS,
        log_level="warning",
        access_log=False,
    )


def _listen(settings: WebSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host.strip("[]"), settings.port))
    # A name that is not a valid one raises UnicodeError or another ValueError.
    except (OSError, ValueError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise StageError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}; choose another host or port"
        ) from error
    if not settings.hosts and ip_address(listening.getsockname()[0].partition("%")[0]).is_unspecified:
        listening.close()
        raise SettingError(
            f"host={settings.host} listens on all addresses of this computer: also name those at which the page is "
            "opened, for example hosts=[192.168.0.7,games.local]"
        )
    return listening


def address_of(settings: WebSettings, listening: socket.socket) -> str:
    """The address to open in a browser."""
    address, port = listening.getsockname()[:2]
    host = settings.hosts[0] if ip_address(address.partition("%")[0]).is_unspecified else settings.host.strip("[]")
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
