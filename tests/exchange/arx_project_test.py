"""Projects and hierarchies of ARX: taken over and run; whatever a stranger may have put into them is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kveil
from arx_projects import parts, project
from kveil.errors import FileError, PolicyError
from kveil.flow.exchange import import_arx


def test_a_project_is_taken_over_and_its_release_verified(tmp_path: Path) -> None:
    imported = import_arx(project(tmp_path, parts()), tmp_path / "policy.yaml")
    policy = kveil.Policy.load(tmp_path / "policy.yaml")
    assert {name: attribute.role for name, attribute in policy.attributes.items()} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "zip": "quasi-identifier",
        "illness": "sensitive",
    }
    assert [model.model for model in policy.privacy] == ["k-anonymity", "l-diversity"]
    assert str(policy.suppression.limit) == "0.1"
    assert policy.suppression.show == "star"
    assert str(policy.attributes["age"].weight) == "2"  # ARX weighs age twice as much as the others
    boundary = policy.attributes["zip"].boundary
    assert boundary is not None
    assert boundary.form == "marked"
    assert boundary.nodes == ("100**", "200**")
    assert [told.split(":")[0] for told in imported.left_out] == ["age", "The privacy model (0.2)-sample-uniqueness"]
    assert (tmp_path / "policy.table.csv").stat().st_mode & 0o777 == 0o600
    frame = pl.read_csv(tmp_path / "policy.table.csv", separator=";", infer_schema=False)
    result = kveil.anonymize(frame, policy)
    assert kveil.verify(result.data, policy, original=frame, owner=result.owner)


def test_a_project_without_a_model_of_ours_asks_for_k(tmp_path: Path) -> None:
    config = "<config><criteria><criterion>(0.01)-population-uniqueness (dankar)</criterion></criteria></config>"
    path = project(tmp_path, parts(input__config_xml=config))
    with pytest.raises(PolicyError, match=r"has no privacy model that kveil knows .* with --k N at least\."):
        import_arx(path, tmp_path / "policy.yaml")
    assert not (tmp_path / "policy.yaml").exists()
    import_arx(path, tmp_path / "policy.yaml", k=3)
    assert kveil.Policy.load(tmp_path / "policy.yaml").privacy[0].model == "k-anonymity"


def test_every_model_that_both_have_is_carried_over(tmp_path: Path) -> None:
    sentences = (
        "5-anonymity",
        "shannon-entropy-2.5-diversity for attribute 'illness'",
        "recursive-(4.0,2)-diversity for attribute 'illness'",
        "0.3-closeness with equal ground-distance for attribute 'illness'",
    )
    config = "<config>" + "".join(f"<criterion>{text}</criterion>" for text in sentences) + "</config>"
    imported = import_arx(project(tmp_path, parts(input__config_xml=config)), tmp_path / "policy.yaml")
    models = [model.model_dump(mode="json") for model in kveil.Policy.load(tmp_path / "policy.yaml").privacy]
    assert [model["model"] for model in models] == ["k-anonymity", "l-diversity", "l-diversity", "t-closeness"]
    assert [str(model.get("l")) for model in models[1:3]] == ["2.5", "2"]
    assert str(models[2]["c"]) == "4"
    assert imported.left_out[0].startswith("age: the least level 1")


def test_a_hierarchy_that_is_no_tree_is_told_and_left_out(tmp_path: Path) -> None:
    files = parts() | {"input/hierarchies/sex.csv": "female;a;*\nmale;a;b;*\n"}
    imported = import_arx(project(tmp_path, files), tmp_path / "policy.yaml")
    assert any(told.startswith("sex: its hierarchy, which is no tree") for told in imported.left_out)
    assert kveil.Policy.load(tmp_path / "policy.yaml").attributes["sex"].hierarchy is None


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            parts(project_xml='<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><project>&x;</project>'),
            "declares a document type",
        ),
        (
            parts(
                input__definition_xml=parts()["input/definition.xml"].replace("hierarchies/sex.csv", "../../sex.csv")
            ),
            "lies outside its folder",
        ),
        (parts(project_xml="<project>" + "<a>" * 100), "nested too deeply"),
        (parts(project_xml="<project><separator>;"), "no XML that can be read"),
        (parts(input__definition_xml="<definition/>"), "does not name every column once"),
        ({name: text for name, text in parts().items() if name != "input/config.xml"}, "has no input/config.xml"),
        (
            parts(
                input__config_xml="<config><relativeMaxOutliers>1e999999</relativeMaxOutliers><criterion>2-anonymity</criterion></config>"
            ),
            "no share",
        ),
        (parts(project_xml="<project>" + " " * 9_000_000 + "</project>"), "which is not believed"),
        (parts() | {"data/input.csv": "a\n" * 40_000_000}, "which is not believed"),
    ],
    ids=["entity", "path", "deep", "broken", "empty", "lacking", "limit", "long", "bomb"],
)
def test_what_a_stranger_may_send_is_refused(tmp_path: Path, files: dict[str, str], told: str) -> None:
    path = project(tmp_path, files)
    with pytest.raises(FileError, match=told):
        import_arx(path, tmp_path / "policy.yaml")
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.deid"]
