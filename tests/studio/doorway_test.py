"""The page that leads a browser to the link: for its owner alone, and gone afterwards."""

from __future__ import annotations

from kveil.studio.doorway import Doorway


def test_only_its_owner_can_read_it_and_it_goes_without_a_trace() -> None:
    link = "http://127.0.0.1:1/?token=s3cret"
    doorway = Doorway(link)
    assert doorway.page.stat().st_mode & 0o777 == 0o600
    assert doorway.page.parent.stat().st_mode & 0o777 == 0o700
    assert doorway.address == doorway.page.as_uri()
    assert "s3cret" not in doorway.address
    assert link in doorway.page.read_text()
    doorway.close()
    assert not doorway.page.parent.exists()
    doorway.close()


def test_a_link_cannot_end_the_page_it_stands_in() -> None:
    doorway = Doorway('http://127.0.0.1:1/?token="><script>')
    assert "<script>" not in doorway.page.read_text()
    doorway.close()
