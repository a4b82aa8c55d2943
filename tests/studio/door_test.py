"""Who is refused, and that what is let in carries the headers which keep the page alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kveil.studio.door import Door
from running_studio import Running


def test_the_link_works_once_and_leaves_a_strict_cookie(project: Path, studio_in: Callable[..., Running]) -> None:
    running = studio_in(project)
    path = running.link.removeprefix(running.origin)
    arriving = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    status, headers, _ = running.raw("GET", path, arriving)
    assert status == 303
    assert len(headers["location"]) > 20
    assert f"Path={headers['location']}" in headers["set-cookie"]  # other servers of this machine have other paths
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=strict" in headers["set-cookie"]
    again, _, told = running.raw("GET", path, arriving)
    assert again == 403
    assert b"used" in told


def test_a_link_is_worth_nothing_after_ten_minutes() -> None:
    time = 0.0
    door = Door(lambda *_: None, 1, now=lambda: time)  # type: ignore[arg-type,return-value]
    token = door.link().partition("token=")[2]
    late = door.link().partition("token=")[2]
    assert door._opens(token)
    assert not door._opens(token)
    time = 601.0
    assert not door._opens(late)


def test_the_link_that_was_printed_works_though_the_browser_got_another_one() -> None:
    door = Door(lambda *_: None, 1)  # type: ignore[arg-type,return-value]
    printed, opened = (door.link().partition("token=")[2] for _ in range(2))
    assert door._opens(opened)
    assert door._opens(printed)


def test_strangers_are_refused(studio: Running) -> None:
    own, port = studio.own(), studio.port
    change = own | {"Origin": studio.origin, "Content-Type": "application/json"}
    body = json.dumps({"number": 1, "changes": [{"path": ["seed"], "value": 7}]}).encode()
    before = (studio.folder / "policy.yaml").read_bytes()
    refusals = [
        (403, "GET", "/api/state", {k: v for k, v in own.items() if k != "Cookie"}),  # no key
        (403, "GET", "/api/state", own | {"Cookie": f"kveil-{port}=guess"}),
        (403, "GET", f"{studio.room}guess/api/state", own),
        (403, "GET", "//api/state", own),  # without the page's own path
        (403, "GET", "/?token=guess", {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}),
        (421, "GET", "/api/state", own | {"Host": f"evil.example:{port}"}),  # a name that was rebound
        (421, "GET", "/api/state", own | {"Host": "127.0.0.1"}),  # without the port
        (421, "GET", "/api/state", own | {"Host": f"127.0.0.1:{port + 1}"}),
        (403, "GET", "/api/state", own | {"Sec-Fetch-Site": "same-site"}),  # another port of this machine
        (403, "GET", "/api/state", own | {"Sec-Fetch-Site": "cross-site"}),
        (403, "GET", "/api/state", {k: v for k, v in own.items() if not k.startswith("Sec")}),
        (403, "GET", "/api/state", own | {"Sec-Fetch-Site": "none"}),  # typed, but no navigation
        (403, "POST", "/api/policy/edit", change | {"Origin": f"http://127.0.0.1:{port + 1}"}),
        (403, "POST", "/api/policy/edit", change | {"Origin": "null"}),
        (403, "POST", "/api/policy/edit", {k: v for k, v in change.items() if k != "Origin"}),
        (415, "POST", "/api/policy/edit", change | {"Content-Type": "text/plain"}),  # what a form can send
        (415, "POST", "/api/policy/edit", change | {"Content-Type": "application/x-www-form-urlencoded"}),
        (405, "OPTIONS", "/api/policy/edit", change),
        (405, "PATCH", "/api/policy/edit", change),
    ]
    for expected, method, path, headers in refusals:
        status, answered, _ = studio.raw(method, path, headers, body if method in ("POST", "PATCH") else None)
        assert status == expected, (method, path, headers)
        assert "access-control-allow-origin" not in answered
    assert (studio.folder / "policy.yaml").read_bytes() == before


def test_reading_changes_nothing(studio: Running) -> None:
    for path in ("policy/edit", "policy/undo", "open", "demo", "jobs", "stop"):
        status, _, _ = studio.raw("GET", f"/api/{path}", studio.own())
        assert status in (404, 405)


def test_every_answer_keeps_the_page_alone(studio: Running) -> None:
    for path in ("/", f"{studio.room}/", "/api/state", "/static/app.js", "/static/none.js", "/api/none"):
        _, headers, _ = studio.raw("GET", path, studio.own())
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_only_this_machine_can_reach_it(studio: Running) -> None:
    listening = Path("/proc/net/tcp").read_text().splitlines()[1:] if Path("/proc/net/tcp").exists() else []
    ours = [line.split()[1] for line in listening if int(line.split()[1].split(":")[1], 16) == studio.port]
    assert all(address.startswith("0100007F:") for address in ours)
    assert ours or not listening


@pytest.mark.parametrize(
    "path", ["../", "/etc", "/etc/passwd", "..%2f..", "a/../../..", ".hidden", "\x00", "link/passwd", "link"]
)
def test_paths_stay_below_the_root(shared: Running, path: str) -> None:
    if not (shared.folder / "link").exists():
        (shared.folder / "link").symlink_to("/etc")
        (shared.folder / ".hidden").mkdir()
    status, _, content = shared.raw(
        "POST",
        "/api/open",
        shared.own() | {"Origin": shared.origin, "Content-Type": "application/json"},
        json.dumps({"path": path}).encode(),
    )
    assert status in (403, 404), content
    assert b"root:" not in content


@pytest.mark.parametrize("path", ["../door.py", "%2e%2e/door.py", "..%2fdoor.py", "/etc/passwd", "%2fetc%2fpasswd"])
def test_only_files_of_the_page_are_static(shared: Running, path: str) -> None:
    status, _, content = shared.raw("GET", f"/static/{path}", shared.own())
    assert status == 404
    assert b"import" not in content
    assert b"root:" not in content


def test_a_policy_that_is_a_link_to_elsewhere_is_not_opened_with_its_folder(
    tmp_path: Path, studio_in: Callable[..., Running]
) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (root / "inner").mkdir(parents=True)
    (outside / "secret.yaml").write_text("kveil: 1\nattributes: {secret: {role: identifier}}\n")
    (root / "inner" / "policy.yaml").symlink_to(outside / "secret.yaml")
    (root / "inner" / "t.csv").write_text("a,b\n1,2\n")
    studio = studio_in(root)
    studio.enter()
    assert studio.ask("POST", "open", {"path": "inner"})["project"] is None
    assert [entry["name"] for entry in studio.ask("GET", "files?under=inner")["entries"]] == ["t.csv"]


def test_children_are_not_told_what_is_called_a_secret(
    project: Path, studio_in: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"AWS_SECRET_ACCESS_KEY": "s3", "GITHUB_TOKEN": "s3", "PGPASSWORD": "s3", "SSH_AUTH_SOCK": "s3"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KVEIL_TEST", "kept")
    studio = studio_in(project, "policy.yaml")
    studio.enter()
    studio.ask("POST", "open", {"path": "policy.yaml"})
    children = [
        int(pid) for pid in Path(f"/proc/{studio.process.pid}/task/{studio.process.pid}/children").read_text().split()
    ]
    assert children
    for child in children:
        told = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        assert b"KVEIL_TEST=kept" in told
        assert not any(entry.endswith(b"=s3") for entry in told)


def test_values_of_people_are_in_no_histogram_and_no_preview(studio: Running) -> None:
    assert "name people" in studio.ask("GET", "bins?column=patient_id", expect=403)["told"]
    studio.ask("POST", "preview", {"column": "name", "hierarchy": {"mask": {"keep": [3]}}}, 403)
    studio.ask("POST", "tree", {"number": studio.number, "column": "name", "do": "keep"}, 403)
    studio.ask("GET", "tree?column=name", expect=422)


def test_a_dropped_file_gets_a_plain_name_and_replaces_nothing(shared: Running) -> None:
    headers = shared.own() | {"Origin": shared.origin, "Content-Type": "application/octet-stream"}
    table = b"age,sex,illness\n" + b"31,F,flu\n45,M,gout\n" * 10
    for name, stem in (("../../evil.csv", "evil"), ("..%5Cwin.csv", "win"), ("a%2Fb%2Fevil.csv", "evil 2")):
        status, _, content = shared.raw("PUT", f"/api/upload?name={name}", headers, table)
        assert status == 200, content
        assert (shared.folder / stem).is_dir()
        assert (shared.folder / stem).stat().st_mode & 0o777 == 0o700
    for name in ("x.exe", "policy.yaml", ".csv", "", "..", "%00.csv.sh"):
        assert shared.raw("PUT", f"/api/upload?name={name}", headers, table)[0] == 422
