"""What is done with a release that the verifier refuses: nothing is written."""

from __future__ import annotations

from kveil.algorithms.algorithm import Algorithm
from kveil.errors import NotVerified, PolicyError
from kveil.policy.model import Policy
from kveil.verifier import Verdict
from kveil.verifier.alignment import BesideOriginal
from kveil.verifier.labels import misleading_labels, telling_labels


def check_verdict(verdict: Verdict, aligned: BesideOriginal, policy: Policy, algorithm: Algorithm) -> None:
    """Raise where a release does not hold: its labels tell too much or mislead, or whoever made it has a defect."""
    if verdict:
        return
    of_labels = {*telling_labels(aligned, policy), *misleading_labels(aligned.rows, policy)}
    if of_labels.issuperset(verdict.findings):
        raise PolicyError(verdict.findings[0])
    if algorithm.package is not None:
        raise NotVerified(
            f"the algorithm {algorithm.name} of {algorithm.package} made a release that the verifier "
            f"refuses ({verdict.findings[0].rstrip('.')}); nothing was written. Tell its authors."
        )
    raise NotVerified(
        f"kveil made a release that its own verifier refuses ({verdict.findings[0].rstrip('.')}); nothing was "
        "written. This is a defect of kveil: please report the policy."
    )
