"""Run the studio: a server on this machine's own address, and a link that lets one browser in."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import uvicorn

from kveil.errors import FileError, KveilError
from kveil.studio.answers import Told, tell_defect
from kveil.studio.app import make_app
from kveil.studio.door import LINK_LASTS, Door
from kveil.studio.doorway import Doorway
from kveil.studio.opening import open_path
from kveil.studio.studio import Studio


class _Server(uvicorn.Server):
    """A server that opens what it was started with before the first request, and tells its link."""

    def __init__(
        self, config: uvicorn.Config, studio: Studio, door: Door, given: Path | None, *, browser: bool
    ) -> None:
        super().__init__(config)
        self.studio, self.door, self.given, self.browser = studio, door, given, browser
        self.doorway: Doorway | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: _tell_of_task(told.get("exception")))
        await super().startup(sockets)
        print_link(self.door, self.studio.root)
        if self.given is not None:
            self.studio.start_task(_opened(self.studio, self.given))
        if self.browser:
            self._open_browser()

    def _open_browser(self) -> None:
        def close() -> None:
            if self.doorway is not None:
                self.doorway.close()

        try:
            self.doorway = doorway = Doorway(self.door.link(used=close))
        except OSError as error:
            told = f"no browser can be opened, since no file can be written ({error.strerror}); open the link by hand."
            sys.stderr.write(f"kveil: {told}\n")
            return
        asyncio.get_running_loop().call_later(LINK_LASTS, close)
        threading.Thread(target=webbrowser.open, args=(doorway.address,), daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.doorway is not None:
            self.doorway.close()
        self.studio.end_events()
        await super().shutdown(sockets)


def _tell_of_task(error: object) -> None:
    """Tell of a task that ended with an error which nobody asked about; a trace would quote data."""
    if isinstance(error, Exception):
        tell_defect(error)


async def _opened(studio: Studio, given: Path) -> None:
    try:
        await open_path(studio, given)
        studio.tell("hello", studio.state())
    except (Told, KveilError) as error:
        told = error.told if isinstance(error, Told) else str(error)
        sys.stderr.write(f"kveil: {told}\n")
        studio.tell("refused", {"told": told})


def print_link(door: Door, root: Path) -> None:
    """Print an address that works once."""
    sys.stdout.write(
        f"kveil studio works in {root}\n\n    {door.link()}\n\n"
        "Open this link within ten minutes; it works once. Press Enter for a new one, Ctrl+C to stop.\n"
    )
    sys.stdout.flush()


def _new_links(door: Door, root: Path) -> None:
    for _ in sys.stdin:
        print_link(door, root)


def serve(given: Path | None, *, port: int = 0, browser: bool = True) -> None:
    """Serve the studio on this machine alone until it is stopped.

    ``given`` is a policy, a table or a folder to start with. Raises FileError where it, or the port, cannot be had.
    """
    if given is not None and not given.exists():
        raise FileError(f"{given.name} does not exist; name a policy, a table or a folder.")
    root = Path.cwd() if given is None else given if given.is_dir() else given.parent
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except (OSError, OverflowError):
        raise FileError(f"the port {port} cannot be had; name another one with --port, or leave it out.") from None
    studio = Studio(root)
    holder: dict[str, _Server] = {}
    door = Door(lambda *_: None, listening.getsockname()[1])  # type: ignore[arg-type]
    door.app = make_app(studio, door.nonce, lambda: setattr(holder["server"], "should_exit", True))
    config = uvicorn.Config(
        door, log_level="error", access_log=False, lifespan="on", server_header=False, date_header=False,
        timeout_graceful_shutdown=3, loop="asyncio", http="h11", ws="none",
    )  # fmt: skip
    holder["server"] = _Server(config, studio, door, None if given is None else given.resolve(), browser=browser)
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_new_links, args=(door, studio.root), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl+C is how it is stopped
        asyncio.run(holder["server"].serve([listening]))
