"""Whatever is sent with the key, the answer is a sentence with a status of its own, and the terminal stays still."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from kveil.studio.app import make_app
from kveil.studio.studio import Studio
from running_studio import Running, start, url

DEEP: Any = "x"
for _ in range(60):
    DEEP = [DEEP]
ODD: tuple[Any, ...] = (
    None, True, -1, 2**53, 10**26, 10**400, 1.5, 1e300, "", " ", ".", "..", "a" * 5000, "ä" * 3000, "a\0b", "\ud800",
    "\x1b[2J", "~", "*", "[", "{{", "a: b", "&a *a", "<<", "postgresql://", "sqlite:///", "sqlite:///none.db?table=t",
    [], [None], [[]], ["\ud800"], ["a" * 5000], {}, {"a": None}, {"": {"": []}}, {"intervals": {}}, {"dates": [[]]},
    {"intervals": {"from": 0, "to": 10**15, "widths": [1]}}, {"mask": {"keep": [10**9]}}, {"tree": {"a": {"b": DEEP}}},
    {"ranges": {"within": ["a", None]}}, DEEP,
)  # fmt: skip
FIELDS = {
    "open": {
        "path": "policy.yaml", "address": None, "table": None, "parts": None, "columns": None, "skip": 0,
        "encoding": None, "sheet": None, "above": 0,
    },
    "policy/edit": {"number": 0, "changes": [{"path": ["seed"], "value": 1}], "words": "words"},
    "policy/text": {"number": 0, "text": "kveil: 1\n"},
    "policy/roles": {"number": 0, "names": ["sex"], "role": "identifier"},
    "policy/looks-right": {"number": 0, "names": ["sex"]},
    "tree": {
        "number": 0, "column": "zip", "do": "rename", "label": "Ohio", "name": "O", "labels": ["Ohio"], "under": "*",
        "text": "1\t2", "path": "zip.csv",
    },
    "proposal": {"model": {"model": "l-diversity", "sensitive": "insurance", "l": 3}},
    "preview": {"column": "zip", "hierarchy": None},
    "jobs": {"do": "attack", "run": "x", "algorithms": ["none"], "weaker": False},
    "confirm": {"database": "sqlite:///none.db", "query": "SELECT 1"},
}  # fmt: skip
ASKED = {
    "values": ("column", "from", "find", "show"), "sample": ("show",), "bins": ("column",), "tree": ("column",),
    "files": ("under",), "tables": ("path",), "sheets": ("path",),
}  # fmt: skip
RAW = (
    b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b'{"path": NaN}', b'{"path": 1e999}',
    b'{"number": ' + b"9" * 5000 + b"}", b'{"path": "\\ud800"}', b'{"path": "a", "path": "b"}', b'"x"',
)  # fmt: skip


def _told(status: int, content: bytes) -> str:
    """Return the sentence of a refusal; an answer that is none says nothing."""
    assert status < 500, content[:500]
    if status == 200:
        return ""
    answer = json.loads(content)
    assert "defect" not in answer["told"]
    assert answer["told"].endswith((".", "…")), answer
    return str(answer["told"])


@pytest.fixture
def watched(project: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Running]:
    """A studio whose terminal must stay empty."""
    running = start(project, "policy.yaml")
    running.enter()
    running.ask("POST", "open", {"path": "policy.yaml"})
    try:
        yield running
        running.ask("GET", "state")
    finally:
        running.stop()
    assert capfd.readouterr().err == ""


def _send(running: Running, method: str, path: str, body: bytes) -> None:
    change = running.own(**{"Origin": running.origin, "Content-Type": "application/json"})
    status, _, content = running.raw(method, f"/api/{path}", change, body)
    _told(status, content)


@pytest.mark.parametrize("path", FIELDS)
def test_no_field_of_a_request_can_break_the_server(watched: Running, path: str) -> None:
    method = "PUT" if path == "policy/text" else "POST"
    for raw in RAW:
        _send(watched, method, path, raw)
    for name in FIELDS[path]:
        for odd in ODD:
            if path == "jobs" and name == "do" and odd == "run":
                continue
            body = {**FIELDS[path], "number": watched.number, name: odd}
            if path == "open" and name in ("address", "table", "columns", "encoding", "sheet"):
                body["path"] = "patients.csv"
            _send(watched, method, path, json.dumps(body).encode())


def test_no_change_of_the_policy_can_break_the_server(watched: Running) -> None:
    for odd in ODD:
        odd_parts = ([], ["seed"], ["privacy", 0, "k"], ["data"], ["data", "path"], ["attributes"])
        changes = [{"path": part, "value": odd} for part in (*odd_parts, ["attributes", "zip", "hierarchy"])]
        changes += [
            odd,
            {"path": odd},
            {"path": [odd], "value": 1},
            {"path": ["attributes", odd, "role"], "value": "x"},
        ]
        for change in changes:
            before = watched.number
            body = {"number": before, "changes": [change], "words": odd}
            _send(watched, "POST", "policy/edit", json.dumps(body).encode())
            if watched.number == before:
                continue
            for asked in ("runs", "tree?column=zip", "values?column=sex"):
                status, _, content = watched.raw("GET", f"/api/{asked}", watched.own())
                assert status < 500, (change, content[:300])
            watched.ask("POST", "policy/undo")


def test_no_address_can_break_the_server(watched: Running) -> None:
    odd = [value if isinstance(value, str) else json.dumps(value) for value in ODD]
    sent = [text.encode("utf-8", "surrogatepass").hex(" ").upper() for text in odd]
    for path, names in ASKED.items():
        for name in names:
            for text in sent:
                value = "".join(f"%{pair}" for pair in text.split())
                query = f"{name}={value}" if name == "column" else f"column=zip&{name}={value}"
                status, _, content = watched.raw("GET", f"/api/{path}?{query}", watched.own())
                _told(status, content)
    for number in ("0", "-1", "9" * 5000, "1.5", "x", "%F0%9F%98%80"):
        for method, path in (("DELETE", f"jobs/{number}"), ("POST", f"jobs/{number}/finish")):
            _send(watched, method, path, b"{}")
    for run in ("..", "%2e%2e", "x" * 5000, "%00", "%ff"):
        for path in (f"runs/{run}/sample", f"runs/{run}/bundle.zip", f"runs/{run}/report.html"):
            status, _, _ = watched.raw("GET", f"/api/{path}", watched.own())
            assert status < 500
    octets = watched.own(**{"Origin": watched.origin, "Content-Type": "application/octet-stream"})
    for name in ("x" * 5000, url("ä" * 3000), "", "%00", "a.exe%00", "..%2F..%2Fa", "%ED%A0%80"):
        status, _, content = watched.raw("PUT", f"/api/upload?name={name}.csv", octets, b"")
        _told(status, content)


def test_every_route_is_one_that_these_tests_know(tmp_path: Path) -> None:
    app = make_app(Studio(tmp_path), "nonce", lambda: None)
    routes = {route.path.removeprefix("/api/") for route in app.routes if isinstance(route, Route)}
    with_numbers = {"jobs/{number}", "jobs/{number}/finish", "runs/{run}/sample", "runs/{run}/bundle.zip"}
    without_words = {
        "/", "state", "events", "catalogue", "methods", "demo", "policy/undo", "policy/redo", "check", "runs", "stop",
    }  # fmt: skip
    assert routes == {*FIELDS, *ASKED, *with_numbers, *without_words, "runs/{run}/{file}", "upload"}
