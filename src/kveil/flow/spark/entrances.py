"""The two ways into Spark, a table of its own and a frame: what that engine cannot do is refused first."""

from __future__ import annotations

from typing import Any

from kveil.databases import Place
from kveil.engines.choosing import check_on_spark, refuse_on_spark
from kveil.errors import Refused
from kveil.files import check_layout
from kveil.flow.steps.inputs import check_targets
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.flow.steps.result import Result
from kveil.flow.steps.stages import Stages
from kveil.report.account import Account, make_account
from kveil.report.receipt import make_receipt


def spark_result(frame: Any, asked: Request, stages: Stages) -> Result[Any]:
    """Return a verified release of a frame of Spark; it has no way back, since its rows have no places."""
    from kveil.flow.spark.spark_request import SparkRequest
    from kveil.flow.spark.spark_run import able_on_spark, anonymize_spark_frame

    able = able_on_spark(asked.policy, asked.able)
    data, run = anonymize_spark_frame(frame, SparkRequest(asked.policy, able, asked.bounded), stages)
    account = make_account(run, seconds=stages.seconds, release_sha256=None)
    return Result(data, asked.policy, account, make_receipt(account, run), None)


def write_on_spark(asked: Request, path: Place, targets: Targets, stages: Stages) -> Account:
    """Make a release of a table on Spark and write it there; return the account."""
    from kveil.flow.spark.spark_request import SparkRequest
    from kveil.flow.spark.spark_run import able_on_spark, anonymize_on_spark

    refuse_on_spark(asked.only_local(targets))
    if targets.owner is not None and not targets.owner_key and asked.policy.individual_column is None:
        raise Refused(
            "engine spark has no numbers of rows for --owner; name columns with --owner-key whose values are all "
            "different."
        )
    check_on_spark([path], output=targets.release)
    check_layout(asked.policy.data, "parquet", path.name)
    able = able_on_spark(asked.policy, asked.able)
    check_targets(asked.policy, path, [*(target for target, _ in targets.beside()), targets.release])
    return anonymize_on_spark(SparkRequest(asked.policy, able, asked.bounded), path, targets, stages)
