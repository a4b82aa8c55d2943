"""Who is let in: a page of this server, in the browser that opened its link, and nobody else.

Anything another site's page, another port's page or another name for this machine can send is refused before any route
sees it. Nothing is ever sent with permission for others to read it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from time import monotonic
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kveil.studio.answers import tell_defect

LINK_LASTS = 600.0  # seconds
MOST_JSON = 50_000_000  # bytes of one request that is no table
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'"
ENTRY = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={room}/">'
    '<title>kveil studio</title><p>Opening <a href="{room}/">the studio</a>…</p></html>'
)
_BODIES = ("application/json", "application/octet-stream")


class Door:
    """Checks every request, lets the browser in that brings the link, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, port: int, *, now: Callable[[], float] = monotonic) -> None:
        self.app = app
        self.port = port
        self.now = now
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"kveil-{port}"
        self.room = f"/{secrets.token_urlsafe(16)}"  # cookies know no ports, but paths: others are not sent ours
        self.key = secrets.token_urlsafe(32)
        self.nonce = secrets.token_urlsafe(16)
        self._links: dict[str, tuple[float, Callable[[], None]]] = {}  # until when each is good, what its use does

    def link(self, *, used: Callable[[], None] = lambda: None) -> str:
        """Return a new address that lets one browser in, once, within ten minutes; ``used`` is called when it does."""
        token = secrets.token_urlsafe(32)
        self._links[token] = self.now() + LINK_LASTS, used
        return f"http://{self.hosts[0]}/?token={token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no other kinds of connection
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers(message)]
            await send(message)

        if refusal is not None:
            await refusal(scope, receive, sealed)
            return
        entry = self._entry(scope, headers)
        if entry is not None:
            await entry(scope, receive, sealed)
            return
        path = scope["path"].removeprefix(self.room)
        try:
            await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, sealed)
        except Exception as error:  # the page has its answer; a server's log would quote what the error says, and data
            tell_defect(error)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return why a request is not let in at all; None where it may come from our own page."""
        if headers.get("host") not in self.hosts:
            return PlainTextResponse("This server answers to its own address only.", 421)
        site, method = headers.get("sec-fetch-site"), scope["method"]
        navigates = headers.get("sec-fetch-mode") == "navigate" and method == "GET"
        navigates = navigates and (site == "none" or bool(_token(scope)))  # a link proves itself, wherever it stands
        if site != "same-origin" and not navigates:
            return PlainTextResponse("Only the studio's own page may ask this.", 403)
        if method not in ("GET", "POST", "PUT", "DELETE"):
            return PlainTextResponse("The studio has no use for this method.", 405)
        if method != "GET":
            if headers.get("origin") not in [f"http://{host}" for host in self.hosts]:
                return PlainTextResponse("Only the studio's own page may change something.", 403)
            kind = headers.get("content-type", "").split(";")[0].strip()
            if kind not in _BODIES:
                return PlainTextResponse("Send JSON, or octets.", 415)
            size = headers.get("content-length", "0")
            if kind == _BODIES[0] and not (size.isdecimal() and len(size) < 12 and int(size) <= MOST_JSON):
                return PlainTextResponse("This is too much at once; write it into a file, and open that.", 413)
        return None

    def _entry(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return the answer to whoever brings the link, or to whoever has no key; None for those who have it."""
        token = _token(scope)
        if token:
            if self._opens(token):
                answer: Response = RedirectResponse(f"{self.room}/", 303)
                if headers.get("sec-fetch-site") != "none":  # led on by a file: only from a page of ours
                    answer = HTMLResponse(ENTRY.format(room=self.room))  # will browsers bring a strict cookie
                answer.set_cookie(self.cookie, self.key, httponly=True, samesite="strict", path=f"{self.room}/")
                return answer
            return PlainTextResponse(
                "This link has been used, or is older than ten minutes. Go to the tab that it opened, or press Enter "
                "in the terminal of kveil studio for a new one.",
                403,
            )
        if not scope["path"].startswith(f"{self.room}/") or not self._has_key(headers):
            return PlainTextResponse(
                "Nobody is let in here without the link that kveil studio printed in its terminal; open it, or press "
                "Enter there for a new one.",
                403,
            )
        return None

    def _opens(self, token: str) -> bool:
        """Tell whether a token opens the door; it does so once."""
        self._links = {known: link for known, link in self._links.items() if self.now() < link[0]}
        fitting = [known for known in self._links if secrets.compare_digest(token.encode(), known.encode())]
        for known in fitting:
            _, used = self._links.pop(known)
            used()
        return bool(fitting)

    def _has_key(self, headers: dict[str, str]) -> bool:
        for part in headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie and secrets.compare_digest(value.encode(), self.key.encode()):
                return True
        return False

    def _headers(self, message: Message) -> list[tuple[bytes, bytes]]:
        present = {name.lower() for name, _ in message.get("headers", [])}
        all_headers = {
            b"content-security-policy": PAGE_POLICY.format(nonce=self.nonce).encode(),
            b"x-content-type-options": b"nosniff",
            b"referrer-policy": b"no-referrer",
            b"cross-origin-opener-policy": b"same-origin",
            b"cross-origin-resource-policy": b"same-origin",
            b"cache-control": b"no-store",
        }
        return [(name, value) for name, value in all_headers.items() if name not in present]


def _token(scope: Scope) -> str:
    """Return the secret of a link that a request brings, nothing where it brings none."""
    if scope["method"] != "GET" or scope["path"] != "/":
        return ""
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get("token", [""])[0]


def report_headers() -> dict[str, str]:
    """Return the headers of a report: a page that may run nothing and reach nothing."""
    return {"content-security-policy": REPORT_POLICY}
