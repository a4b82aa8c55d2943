"""A socket that answers as a server of PostgreSQL does and asks whoever comes for a password; no test."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ENCRYPTIONS = (80877103, 80877104)  # what a client asks first: shall we speak by TLS, by GSSAPI?
CLEARTEXT = b"R" + struct.pack("!ii", 8, 3)
MD5 = b"R" + struct.pack("!ii", 12, 5) + b"salt"


@dataclass
class Heard:
    """What arrived: how many came, and what they said once they were asked for a password."""

    address: str
    visitors: int = 0
    answers: list[bytes] = field(default_factory=list)


@contextmanager
def asking(question: bytes, folder: Path | None = None) -> Iterator[Heard]:
    """Listen on localhost, or on a socket in a folder, until the block ends."""
    if folder is None:
        listening = socket.create_server(("127.0.0.1", 0))
        heard = Heard(f"localhost:{listening.getsockname()[1]}")
    else:
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(folder / ".s.PGSQL.5432"))
        listening.listen()
        heard = Heard("")

    def serve() -> None:
        with suppress(OSError):  # the block has ended
            while True:
                visitor, _ = listening.accept()
                with visitor, suppress(OSError):
                    _talk(visitor, question, heard)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield heard
    finally:
        listening.close()


def _talk(visitor: socket.socket, question: bytes, heard: Heard) -> None:
    visitor.settimeout(10)
    heard.visitors += 1
    while True:
        head = visitor.recv(8)
        if len(head) < 8:
            return
        length, code = struct.unpack("!ii", head)
        if code not in ENCRYPTIONS:
            break
        visitor.sendall(b"N")
    visitor.recv(length - 8)
    visitor.sendall(question)
    answer = visitor.recv(4096)
    if answer:
        heard.answers.append(answer)
