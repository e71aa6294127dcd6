"""The ingest task's process: what it is told, how it fails, how it is killed."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.sdk.log import redact  # type: ignore[attr-defined]
from sluice.errors import (
    BrokerUnavailable,
    ResetNeeded,
    SettingsError,
    SparkFailed,
    SpecError,
)
from sluice.lake.job_errors import ReportedError
from sluice.offsets.batches import BatchReference, BatchSequence
from sluice.processes import end_family
from sluice.scheduling.hooks import DriverHook, JobRefused, driver_environment, mask_secrets
from sluice.scheduling.operators import IngestOperator, job_options
from sluice.scheduling.run_notes import SUMMARY
from sluice.scheduling.tasks import failing_for_good
from sluice.spec_folder import load_spec
from structlog.testing import capture_logs

from local.embedded.waiting import until

SECRET = "not-for-anyone's-eyes"
KAFKA = Connection(
    conn_id="kafka_default",
    conn_type="kafka",
    extra=json.dumps({"bootstrap.servers": "broker:9092", "sasl.password": SECRET}),
)
WORK = BatchReference(BatchSequence("flights", "forward", 1), range(42, 44))


class FakeTaskInstance:
    def __init__(self, reference):
        self.reference = reference
        self.told = {}

    def xcom_push(self, key, value):
        self.told[key] = value

    def xcom_pull(self, task_ids):
        assert task_ids == "plan"
        return self.reference


@pytest.fixture
def spark(monkeypatch):
    """The Spark connection, in the mode that the test asks for."""

    def define(host="local[1]", port=None, **extra):
        value = {"conn_type": "spark", "host": host, "port": port, "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(value))

    define()
    return define


@pytest.fixture
def submit(tmp_path, specs, spark):
    """`submit(script)` makes the hook of a task whose spark-submit is that shell script."""

    def make(script: str, **kwargs: Any) -> DriverHook:
        binary = tmp_path / "bin" / "spark-submit"
        binary.parent.mkdir(exist_ok=True)
        binary.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
        environment = driver_environment([KAFKA], Path("specs"))
        environment["PATH"] = f"{binary.parent}{os.pathsep}{environment['PATH']}"
        return DriverHook(environment=environment, application_args=job_options(WORK), **kwargs)

    return make


def test_the_job_is_told_the_reference_and_nothing_else():
    assert job_options(WORK) == (
        ["--pipeline", "flights", "--lane", "forward", "--generation", "1", "--batches", "42..43"]
    )


def test_the_command_line_of_a_long_backfill_is_short():
    """Linux takes 128 KiB in one argument; 24,000 numbers are more."""
    years = BatchReference(BatchSequence("flights", "backfill", 1), range(1, 10**6))
    assert max(map(len, job_options(years))) < 20


def test_the_secret_is_in_the_drivers_environment_and_nowhere_else(submit, tmp_path):
    seen, command = tmp_path / "environment", tmp_path / "command"
    with capture_logs() as said:
        submit(f'env > {seen}; echo "$0 $@" > {command}').submit("ingest.py")
    assert SECRET in seen.read_text(encoding="utf-8")
    assert "--batches 42..43" in command.read_text(encoding="utf-8")
    assert SECRET not in command.read_text(encoding="utf-8")
    assert said
    assert SECRET not in repr(said)


@pytest.mark.parametrize(
    "key",
    [
        "spark.hadoop.fs.azure.account.key.data.dfs.core.windows.net",
        "spark.hadoop.google.cloud.auth.service.account.private.key",
        "spark.hadoop.fs.s3a.encryption.key",
        "spark.executorEnv.API_KEY",
    ],
)
def test_no_spec_brings_a_secret_into_the_command_line(write_spec, key):
    with pytest.raises(SpecError, match=f"spark: found {re.escape(key)}: not among") as refused:
        load_spec(write_spec("flights", spark={key: SECRET}))
    assert SECRET not in str(refused.value)


def test_what_looks_secret_is_masked_in_the_tasks_log_should_it_get_there(submit):
    hidden = "hidden-from-every-log"
    submit("exit 0", conf={"spark.hadoop.fs.azure.account.key.data": hidden, "spark.ui.x": "8g"})
    shown = redact(f"--conf spark.hadoop.fs.azure.account.key.data={hidden}")
    assert str(shown).endswith("data=***")
    assert redact("--conf spark.ui.x=8g") == "--conf spark.ui.x=8g"


def test_the_driver_gets_one_connection_and_none_of_airflows_settings(specs, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_SOMEBODY_ELSE", "{}")
    monkeypatch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "x")
    given = driver_environment([KAFKA], specs)
    assert [name for name in given if name.startswith("AIRFLOW_")] == ["AIRFLOW_CONN_KAFKA_DEFAULT"]
    assert json.loads(given["AIRFLOW_CONN_KAFKA_DEFAULT"])["extra"]["sasl.password"] == SECRET
    assert given["SLUICE_PIPELINES"] == str(specs)
    # Else the modules beside the script would shadow others of their names.
    assert given["PYTHONSAFEPATH"] == "1"


def test_the_driver_gets_the_registrys_connection_too_and_its_login_is_hidden(specs):
    extra = {
        "url": "https://ann:in-the-address@registry",
        "basic.auth.user.info": "bob:in-the-extra",
    }
    registry = Connection(
        conn_id="schema_registry_default",
        conn_type="http",
        password="of-the-connection",
        extra=json.dumps(extra),
    )
    given = driver_environment([KAFKA, registry], specs)
    assert "in-the-extra" in given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"]
    for hidden in ("in-the-address", "in-the-extra", "of-the-connection"):
        assert hidden not in redact(f"asked with {hidden}")


@pytest.mark.parametrize(
    ("host", "port", "extra", "told"),
    [
        ("spark://master", 7077, {}, "--master spark://master:7077 "),
        ("yarn", None, {"queue": "etl"}, "--master yarn --queue etl "),
    ],
)
def test_the_connection_names_the_cluster_and_no_secret_goes_there(
    submit, spark, tmp_path, host, port, extra, told
):
    command = tmp_path / "command"
    spark(host, port, **extra, **{"deploy-mode": "client"})
    submit(f'echo "$0 $@" > {command}').submit("ingest.py")
    said = command.read_text(encoding="utf-8")
    assert all(word in said for word in told.split(" --")), said
    assert "--deploy-mode client" in said
    assert SECRET not in said


def test_kubernetes_without_its_package_is_refused_by_name(submit, spark):
    spark("k8s://https://api", 6443, namespace="etl")
    with pytest.raises(SettingsError, match="apache-airflow-providers-cncf-kubernetes, found none"):
        submit("exit 0", conn_id="spark_default")


def test_cluster_mode_is_refused(submit, spark):
    spark(**{"deploy-mode": "cluster"})
    with pytest.raises(SettingsError, match="found 'cluster', allowed: 'client'"):
        submit("exit 0")


def test_cluster_mode_is_refused_in_the_configuration_too(submit):
    with pytest.raises(SettingsError, match="found 'cluster'"):
        submit("exit 0", conf={"spark.submit.deployMode": "cluster"})


MARK = "SLUICE-ERROR-$SLUICE_REPORT_WORD"


def test_a_failed_job_is_reported_in_its_own_words(submit):
    with pytest.raises(SparkFailed, match=r"exit code 1: CommitFailed: flights\[0\] did not"):
        submit(f"echo {MARK}' CommitFailed: flights[0] did not land'; exit 1").submit("x")


REFUSING = """
import os

from sluice.errors import TooManyQuarantined, as_lines
from sluice.lake.job_errors import WORD, reporting_errors

with reporting_errors("sluice.test", os.environ[WORD]):
    raise TooManyQuarantined(as_lines({lines!r}))
"""


@pytest.fixture
def refuse(submit, tmp_path):
    """`refuse(lines)` is a task whose driver refuses its work with these lines."""

    def failed(lines: list[str]) -> JobRefused:
        driver = tmp_path / "driver.py"
        driver.write_text(REFUSING.format(lines=lines), encoding="utf-8")
        with pytest.raises(JobRefused) as raised:
            submit(f"exec {sys.executable} {driver} 2>&1").submit("x")
        return raised.value

    return failed


def test_the_exception_has_the_count_the_samples_and_the_next_move(refuse):
    lines = ["4 of 6 records are undecodable. Samples:", "flights[0]@1: no object", "Raise it."]
    assert str(refuse(lines)) == (
        "The Spark job ended with exit code 3: TooManyQuarantined: " + "\n".join(lines)
    )


def test_a_long_error_keeps_its_begin_and_its_next_move(refuse):
    said = str(refuse([*(f"flights[0]@{each}: {'x' * 9000}" for each in range(500)), "Raise it."]))
    assert "TooManyQuarantined: flights[0]@0: xxx" in said
    assert "\n… 461 more lines, in the log …\n" in said
    assert said.endswith("\nRaise it.")
    assert len(said) < 100_000


def test_what_looks_secret_in_an_error_is_masked_before_anyone_is_notified(refuse):
    mask_secrets({"sasl.password": SECRET})
    assert str(refuse([f"login refused: {SECRET}"])).endswith("login refused: ***")


DRIVERS_LINES = """cat <<'END'
WARNING: Using incubator modules: jdk.incubator.vector
26/11/24 15:04:05 WARN TaskSetManager: Lost task 0.0 in stage 1.0
java.lang.RuntimeException: of the warning
	at org.apache.spark.Task
2026-11-24 15:04:06,789 INFO sluice.ingest: forward-1-42: reading 12 offsets
2026-11-24 15:04:07,001 ERROR sluice.ingest: SLUICE-ERROR DataLost: flights[0]
END
exit 3"""


def test_the_drivers_lines_keep_their_level(submit):
    with capture_logs() as said, pytest.raises(JobRefused):
        submit(DRIVERS_LINES).submit("x")
    levels = [each["log_level"] for each in said if driver_said(each) in DRIVERS_LINES]
    assert levels == ["info", "warning", "warning", "warning", "info", "error"], said


def driver_said(event):
    return event["event"] % event.get("positional_args", ())


def test_an_error_for_good_has_one_traceback(submit):
    altered = submit(f"echo {MARK}' TableRefused: altered'; exit 3")
    refused = pytest.raises(AirflowFailException, match=r"JobRefused: .*: altered")
    with refused as raised, failing_for_good():
        altered.submit("x")
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_a_job_that_refuses_is_not_retried(submit):
    with pytest.raises(JobRefused, match="exit code 3: TableRefused: altered") as raised:
        submit(f"echo {MARK}' TableRefused: altered'; seq 1 100; exit 3").submit("x")
    assert raised.value.retryable is False


def test_a_job_that_dies_without_a_word_shows_its_last_lines(submit):
    with pytest.raises(SparkFailed, match=r"(?s)signal 9.*the last line"):
        submit("echo the last line; kill -9 $$").submit("x")


@pytest.mark.patient
def test_nothing_of_the_family_is_left_after_a_kill(submit, tmp_path):
    child = tmp_path / "child"
    # A JVM with a driver below it, both of which do not care about SIGTERM.
    stubborn = (
        f'trap "" TERM; sh -c \'trap "" TERM; echo $$ > {child}; while :; do sleep 0.1; done\''
    )
    hook = submit(f"{stubborn} & wait; sleep 60")
    failure: list[BaseException] = []

    def run() -> None:
        try:
            hook.submit("x")
        except SparkFailed as error:
            failure.append(error)

    running = threading.Thread(target=run)
    running.start()
    driver = process_of(child)
    hook.on_kill()
    running.join(timeout=10)
    assert not driver.is_running() or driver.status() == psutil.STATUS_ZOMBIE
    assert "stopped because its task was" in str(failure[0])


@pytest.mark.patient
def test_what_a_family_starts_while_it_is_ended_ends_too():
    # Each of them starts another child as soon as it has lost one, and ignores SIGTERM.
    restless = 'trap "" TERM; for i in $(seq 20); do (while :; do sleep 99; done) & done; wait'
    with subprocess.Popen(["sh", "-c", restless], start_new_session=True, text=True) as child:
        shells = psutil.Process(child.pid)
        until(lambda: len(shells.children(recursive=True)) >= 40, "a large family", 10)
        end_family(child, grace=1)
        assert not [each for each in psutil.process_iter() if alive_in_session(each, child.pid)]


def alive_in_session(process: psutil.Process, session: int) -> bool:
    try:
        return os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


def process_of(pid_file: Path) -> psutil.Process:
    pid = until(
        lambda: pid_file.read_text().strip() if pid_file.exists() else "", f"{pid_file}", 10
    )
    return psutil.Process(int(pid))


def test_spark_is_not_started_after_a_kill(submit, tmp_path):
    hook = submit(f"touch {tmp_path / 'started'}")
    hook.on_kill()
    with pytest.raises(SparkFailed):
        hook.submit("x")
    assert not (tmp_path / "started").exists()


def test_a_kill_before_the_submit_is_harmless(write_spec):
    operator = IngestOperator(task_id="ingest", spec=load_spec(write_spec("flights")), specs=Path())
    operator.on_kill()


def test_ingest_is_skipped_when_nothing_is_new(write_spec):
    operator = IngestOperator(task_id="ingest", spec=load_spec(write_spec("flights")), specs=Path())
    nothing = BatchReference(WORK.sequence).as_dict()
    ti: Any = FakeTaskInstance(nothing)
    with pytest.raises(AirflowSkipException, match="nothing new"):
        operator.execute({"ti": ti})


def test_ingest_is_skipped_where_plan_was_marked_as_success(write_spec):
    """So that settle still writes the receipts that are due."""
    operator = IngestOperator(task_id="ingest", spec=load_spec(write_spec("flights")), specs=Path())
    ti: Any = FakeTaskInstance(None)
    with pytest.raises(AirflowSkipException, match=r"marked as success .*clear `plan`"):
        operator.execute({"ti": ti})


@pytest.mark.parametrize("left", ["", {}, [1], {"batches": "1..2"}, WORK.as_dict() | {"lane": 1}])
def test_what_is_no_work_is_refused_with_the_next_move(write_spec, left):
    operator = IngestOperator(task_id="ingest", spec=load_spec(write_spec("flights")), specs=Path())
    ti: Any = FakeTaskInstance(left)
    with pytest.raises(AirflowFailException, match=r"left no work: .* Clear `plan`"):
        operator.execute({"ti": ti})
    assert ti.told[SUMMARY]["said"].startswith("failed: SettingsError: `plan` left no work")


def test_the_reference_holds_no_offsets():
    assert WORK.as_dict() == {
        "pipeline": "flights",
        "lane": "forward",
        "generation": 1,
        "batches": "42..43",
    }


def test_an_error_that_a_retry_cannot_mend_fails_the_task():
    with pytest.raises(AirflowFailException, match="another log"), failing_for_good():
        raise ResetNeeded("flights[0]: another log")


def test_an_error_that_may_pass_is_left_to_the_retries():
    with pytest.raises(BrokerUnavailable), failing_for_good():
        raise BrokerUnavailable("no answer")


def test_a_record_that_spark_logs_on_a_line_of_its_own_reports_nothing(submit):
    """Also where the job dies without a word of its own."""
    with pytest.raises(SparkFailed, match="see the driver's last lines"):
        submit("echo 'SLUICE-ERROR DataLost: reset to latest now'; kill -9 $$").submit("x")


def test_a_records_text_does_not_begin_a_report():
    found = ReportedError("w")
    for line in (
        "SLUICE-ERROR-w TooManyQuarantined: flights[0]: 2 of 10 records",
        "SLUICE-ERROR-w | flights[0]@7: SLUICE-ERROR DataLost: reset to latest now",
        "SLUICE-ERROR-w | Fix the schema.",
    ):
        found.read(line)
    assert str(found).splitlines() == [
        "TooManyQuarantined: flights[0]: 2 of 10 records",
        "flights[0]@7: SLUICE-ERROR DataLost: reset to latest now",
        "Fix the schema.",
    ]
