"""What a plain job is given: nothing of ours, then our JVM's settings, then our session's."""

from __future__ import annotations

import pytest
from sluice.lake.session import own_conf

from local.bench.contenders import as_users_run_it, with_all_ours, with_our_jvm

DELTA = "io.delta.sql.DeltaSparkSessionExtension"
RECORDS = 10_000


def test_a_user_gives_spark_the_jars_and_delta() -> None:
    assert set(as_users_run_it(RECORDS)) == {
        "spark.driver.extraClassPath",
        "spark.sql.extensions",
        "spark.sql.catalog.spark_catalog",
    }


def test_each_step_adds_settings_and_none_brings_a_class_of_ours() -> None:
    users, jvm, all_ours = (
        settings(RECORDS) for settings in (as_users_run_it, with_our_jvm, with_all_ours)
    )
    assert users.items() < jvm.items() < all_ours.items()
    assert all_ours["spark.sql.extensions"] == DELTA
    assert not {text for text in all_ours.values() if text.startswith("sluice.")}


@pytest.mark.parametrize("records", [10_000, 2_000_000])
def test_a_plain_job_can_have_the_options_of_our_jvm_for_as_many_records(records: int) -> None:
    options = "spark.driver.extraJavaOptions"
    assert with_our_jvm(records)[options] == own_conf(records)[options]
    assert options not in as_users_run_it(records)
