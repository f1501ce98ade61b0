"""Runs the server."""

import logging
import socket
from contextlib import suppress
from importlib.util import find_spec

from selfplay.errors import StageError
from selfplay.settings.web import WebSettings

log = logging.getLogger(__name__)

NEEDED = ("fastapi", "uvicorn")


def serve(settings: WebSettings) -> None:
    """Serve the page until Ctrl-C.

    Raises StageError if it cannot listen on the address, or if a package that it needs is not installed.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise StageError(
            f"{missing[0]} is not installed; install the requirements of the project: python -m pip install -e ."
        )
    listening = _listen(settings)
    import uvicorn

    from selfplay.web.app import create_app
    from selfplay.web.match_service import MatchService

    service = MatchService(settings)
    config = uvicorn.Config(create_app(service), log_level="warning", access_log=False)
    log.info("Play at %s (press Ctrl-C to stop)", address_of(settings, listening))
    # Ctrl-C is the normal way to stop the server.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    service.close()
    log.info("The server has stopped.")


def _listen(settings: WebSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host.strip("[]"), settings.port))
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)
        raise StageError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}; choose another host or port"
        ) from error
    listening.listen(128)
    return listening


def address_of(settings: WebSettings, listening: socket.socket) -> str:
    """The address to open in a browser on this computer."""
    host = "127.0.0.1" if settings.host == "0.0.0.0" else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
