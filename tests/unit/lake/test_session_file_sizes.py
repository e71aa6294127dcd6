"""How a session writes files: as its own spec says, whatever it wrote before."""

from __future__ import annotations

from sluice.lake.session import files_conf, session_conf
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys

ENABLED = "spark.databricks.delta.optimizeWrite.enabled"


def spec(**keys: object) -> PipelineSpec:
    return PipelineSpec.model_validate(spec_keys(**keys))


def test_writes_are_optimised_where_a_table_has_partitions_or_a_size() -> None:
    assert files_conf(spec()) == {ENABLED: "false"}
    assert files_conf(spec(partition_by=["_topic"])) == {ENABLED: "true"}


def test_a_size_is_that_of_writing_and_of_compaction() -> None:
    assert files_conf(spec(target_file_size="128m")) == {
        ENABLED: "true",
        "spark.databricks.delta.optimizeWrite.binSize": "128m",
        "spark.databricks.delta.optimize.maxFileSize": str(128 * 2**20),
        "spark.databricks.delta.optimize.minFileSize": str(128 * 2**20),
    }


def test_the_spark_settings_of_the_spec_have_the_last_word() -> None:
    given = spec(partition_by=["_topic"], spark={ENABLED: "false"})
    assert session_conf(given)[ENABLED] == "false"
