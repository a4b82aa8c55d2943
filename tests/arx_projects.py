"""Projects as ARX saves them, by the layout that its source writes.

A zip with `project.xml`, `input/config.xml`, `input/definition.xml`, `input/hierarchies` and `data/input.csv`.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

AGE = "".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(20, 60))
SEX = "female;any sex\nmale;any sex\n"
ZIP = "10001;1000*;100**;*\n10002;1000*;100**;*\n20001;2000*;200**;*\n20002;2000*;200**;*\n"
ZIPS, ILLNESSES = ("10001", "10002", "20001", "20002"), ("flu", "cold", "gout")
ROWS = [(f"P{i}", 20 + i % 40, ("female", "male")[i % 2], ZIPS[i % 4], ILLNESSES[i % 3]) for i in range(120)]
TABLE = "name;age;sex;zip;illness\n" + "".join(";".join(map(str, row)) + "\n" for row in ROWS)
CRITERIA = ("4-anonymity", "distinct-2-diversity for attribute 'illness'", "(0.2)-sample-uniqueness")


def assigned(name: str, role: str, levels: tuple[str, str] = ("All", "All"), *, hierarchy: bool = True) -> str:
    reference = f"<ref>hierarchies/{name}.csv</ref><min>{levels[0]}</min><max>{levels[1]}</max>" if hierarchy else ""
    return f"<assigment><name>{name}</name><type>{role}</type><datatype>String</datatype>{reference}</assigment>"


def parts(**changed: str) -> dict[str, str]:
    criteria = "".join(f"<criterion>{escape(text)}</criterion>" for text in CRITERIA)
    weights = "".join(
        f"<attributeWeight><attribute>{name}</attribute><weight>{weight}</weight></attributeWeight>"
        for name, weight in (("age", "1.0"), ("sex", "0.5"), ("zip", "0.5"))
    )
    quasi = "QUASI_IDENTIFYING_ATTRIBUTE"
    return {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>",
        "project.xml": "<project><name>Clinic</name><separator>;</separator></project>",
        "input/config.xml": "<config><relativeMaxOutliers>0.1</relativeMaxOutliers><metric>Loss (0.5/1.0/1.0)</metric>"
        f"<attributeWeights>{weights}</attributeWeights><criteria>{criteria}</criteria></config>",
        "input/definition.xml": "<definition>"
        + assigned("name", "IDENTIFYING_ATTRIBUTE", hierarchy=False)
        + assigned("age", quasi, ("1", "All"))
        + assigned("sex", quasi)
        + assigned("zip", quasi, ("All", "2"))
        + assigned("illness", "SENSITIVE_ATTRIBUTE", hierarchy=False)
        + "</definition>",
        "input/hierarchies/age.csv": AGE,
        "input/hierarchies/sex.csv": SEX,
        "input/hierarchies/zip.csv": ZIP,
        "data/input.csv": TABLE,
        **{name.replace("__", "/").replace("_xml", ".xml"): text for name, text in changed.items()},
    }


def project(folder: Path, files: dict[str, str]) -> Path:
    path = folder / "clinic.deid"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path
