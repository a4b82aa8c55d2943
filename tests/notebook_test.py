"""What notebooks show: policy, result, verdict and comparison as tables, with every text escaped."""

from html.parser import HTMLParser
from pathlib import Path

import polars as pl

import kveil
from support import ROWS, columns_of, make_policy, run, write_policy

VOID = {"br", "img", "input", "meta", "link", "hr"}


class Checker(HTMLParser):
    """Checks that tags close in order; collects the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def checked(thing: object) -> Checker:
    html = thing._repr_html_()  # type: ignore[attr-defined]
    checker = Checker()
    checker.feed(html)
    assert not checker.open
    assert not checker.tags & {"script", "iframe", "img", "link", "style"}
    assert "http" not in html
    for row in ROWS:
        assert row[0] not in html
    return checker


def test_all_four_have_a_table() -> None:
    policy = make_policy()
    frame = pl.DataFrame(columns_of())
    result = kveil.anonymize(frame, policy)
    assert "quasi-identifier" in checked(policy).texts
    assert any("of 9 records released" in text for text in checked(result).texts)
    verdict = kveil.verify(result.data, policy, original=frame, owner=result.owner)
    assert "Everything that was checked holds." in checked(verdict).texts
    assert "mondrian (best)" in checked(kveil.compare(frame, policy, ["mondrian"])).texts


def test_names_are_escaped() -> None:
    policy = kveil.Policy(
        attributes={"<script>alert(1)</script>": {"role": "quasi-identifier"}},
        privacy=[{"model": "k-anonymity", "k": 1}],
    )
    assert "<script>alert(1)</script>" in checked(policy).texts


def test_findings_are_shown() -> None:
    policy = make_policy(k=4)
    verdict = kveil.verify(pl.DataFrame(columns_of()).drop("name"), policy)
    assert "The release does not hold." in checked(verdict).texts


def test_a_guarantee_is_worded_alike_everywhere(tmp_path: Path) -> None:
    people = {
        "id": {"role": "individual"},
        "age": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive", "hierarchy": {"tree": {"*": ["x", "y", "z"]}}},
    }
    model = {"model": "kl-diversity", "sensitive": ["diagnosis"], "k": 2, "l": 1}
    frame = pl.DataFrame({"id": list("aabbccdd"), "age": list("11111111"), "diagnosis": list("xyxyxyxy")})
    options = {"privacy": [model], "algorithm": "1m-generalization", "limit": 0}
    policy = make_policy(people, **options)
    result = kveil.anonymize(frame, policy)
    words = "kl-diversity (sensitive diagnosis, k 2, l 1)"
    assert words in checked(result).texts
    verdict = kveil.verify(result.data, policy, original=frame, owner=result.owner)
    assert words in checked(verdict).texts
    result.report(tmp_path / "r.html")
    assert words in (tmp_path / "r.html").read_text(encoding="utf-8")
    frame.write_csv(tmp_path / "t.csv")
    done = run("anonymize", write_policy(tmp_path, people, **options, data={"path": "t.csv"}), "-o", tmp_path / "o.csv")
    assert f"{words} over age" in done.out
