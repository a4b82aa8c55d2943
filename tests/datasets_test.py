"""The hospital ships inside the package."""

from __future__ import annotations

from kveil.datasets import hospital
from kveil.policy.model import Policy


def test_the_hospital_has_its_policy_and_the_table_it_names() -> None:
    policy = Policy.load(hospital() / "everything.yaml")
    assert (hospital() / str(policy.data.path)).is_file()
    assert all(path.is_file() for path in policy.files)
