"""A script that calls ANJANA, with the files it names."""

from __future__ import annotations

from pathlib import Path

SCRIPT = """
import pandas as pd
from anjana.anonymity import k_anonymity, l_diversity, t_closeness, delta_disclosure
from anjana.anonymity.utils import utils
import pycanon

open("ran", "w").write("this must not happen")
data = pd.read_csv("clinic.csv")
data.columns = data.columns.str.strip()
ident = ["name"]
quasi_ident = ["age", "sex", "job"]
k, supp_level = 4, 10
hierarchies = {
    "age": {0: data["age"].values,
            1: utils.generate_intervals(data["age"].values, 0, 100, 10),
            2: utils.generate_intervals(data["age"].values, 0, 100, 50)},
    "sex": {0: data["sex"].values},
    "job": dict(pd.read_csv("job.csv", header=None)),
}
anonymous = k_anonymity(data, ident, quasi_ident, k, supp_level, hierarchies)
anonymous = l_diversity(anonymous, ident, quasi_ident, "illness", k, 2, supp_level=5, hierarchies=hierarchies)
anonymous = t_closeness(data, ident, quasi_ident, "cost", k, 0.6, supp_level, hierarchies)
anonymous = delta_disclosure(data, ident, quasi_ident, "cost", k, 3, supp_level, hierarchies)
print(pycanon.anonymity.k_anonymity(anonymous, quasi_ident))
"""


def clinic(folder: Path, script: str = SCRIPT) -> Path:
    jobs, illnesses = ("smith", "baker", "judge"), ("flu", "cold")
    rows = [f"P{i},{20 + i % 40},{'fm'[i % 2]},{jobs[i % 3]},{illnesses[i % 2]},{i % 7}" for i in range(120)]
    (folder / "clinic.csv").write_text("name, age, sex,job,illness,cost\n" + "\n".join(rows) + "\n")
    (folder / "job.csv").write_text("smith,craft,*\nbaker,craft,*\njudge,office,*\n")
    path = folder / "script.py"
    path.write_text(script)
    return path
