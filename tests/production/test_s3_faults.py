"""An S3 server that is down, slow, cut off or wrong: a run ends, and the next one is exact."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from sluice.errors import StoreUnavailable
from sluice.offsets.batches import BatchSequence

from local.embedded.gateway import Gateway
from local.embedded.spark_server import SparkServer
from tests.production.worlds.answers import COMMIT, DATA_FILE, Answers
from tests.production.worlds.bucket_pipelines import InBucket
from tests.production.worlds.network import Network

pytestmark = [pytest.mark.integration, pytest.mark.spark]

DATA = "/trips"
OFFSETS = "/trips__offsets"
# What a run gets over by itself: a request, its rule, and what it is about.
GOT_OVER = [
    ("a file is written at the third try", f"{DATA}/.*{DATA_FILE}", {"answer": 503, "times": 2}),
    ("a file's connection is cut", f"{DATA}/.*{DATA_FILE}", {"times": 1}),
    ("a commit is written at the third try", f"{DATA}{COMMIT}", {"answer": 503, "times": 2}),
    ("a commit meets another PUT", f"{DATA}{COMMIT}", {"answer": 409, "times": 1}),
    ("a commit meets what has failed since", f"{DATA}{COMMIT}", {"answer": 412, "times": 1}),
    ("a commit's answer is lost", f"{DATA}{COMMIT}", {"landed": True, "times": 1}),
    (
        "a commit landed and the answer is an error",
        f"{DATA}{COMMIT}",
        {"landed": True, "answer": 500, "times": 1},
    ),
    ("a plan's answer is lost", f"{OFFSETS}{COMMIT}", {"landed": True, "times": 1}),
    ("a plan meets another PUT", f"{OFFSETS}{COMMIT}", {"answer": 409, "times": 1}),
]


@pytest.fixture
def trips(landed_in_bucket: InBucket) -> InBucket:
    return landed_in_bucket


@pytest.mark.parametrize(("_", "path", "rule"), GOT_OVER, ids=[each[0] for each in GOT_OVER])
def test_a_run_gets_over_what_passes(
    trips: InBucket, answers: Answers, _: str, path: str, rule: dict[str, int | bool]
) -> None:
    with answers.to("PUT", path, **rule):
        done = trips.process("run")
        assert answers.met()
    assert done.returncode == 0, done.stderr
    trips.exact()


@pytest.mark.parametrize("path", [f"{OFFSETS}{COMMIT}", f"{DATA}{COMMIT}"], ids=["plan", "commit"])
@pytest.mark.parametrize("answer", [503, 412], ids=str)
def test_a_run_that_cannot_commit_ends_and_says_so(
    trips: InBucket, answers: Answers, path: str, answer: int
) -> None:
    with answers.to("PUT", path, answer=answer):
        done = trips.process("run")
    assert done.returncode == 1
    assert "again" in done.stderr
    assert "a fault in Sluice" not in done.stderr, done.stderr
    trips.exact()


def test_a_table_whose_creation_was_refused_is_created_by_the_next_run(
    in_bucket: Callable[..., InBucket],
    topic: Callable[..., str],
    network: Network,
    s3_server: SparkServer,
    answers: Answers,
) -> None:
    new = in_bucket(topic(), port=network.listens)
    new.server = s3_server
    new.more(0)
    with answers.to("PUT", rf"{DATA}/_delta_log/0{{20}}\.json$", answer=403):
        done = new.process("run")
        assert answers.met()
    assert done.returncode == 1
    assert not list(new.data.rglob("*.json"))
    assert not list(new.data.rglob("*")), done.stderr
    again = new.process("run")
    assert again.returncode == 0, again.stderr
    assert (new.version(), new.judge().facts.rows) == (1, 10)


def test_what_a_killed_creation_leaves_is_named_with_the_way_on(
    in_bucket: Callable[..., InBucket], topic: Callable[..., str], s3_server: SparkServer
) -> None:
    new = in_bucket(topic())
    new.server = s3_server
    new.more(0)
    (new.data / "_delta_log").mkdir(parents=True)
    done = new.process("run")
    assert done.returncode == 1
    assert f"aws s3 rm --recursive s3://lake/{new.folder.name}/trips/" in done.stderr
    shutil.rmtree(new.data)
    again = new.process("run")
    assert again.returncode == 0, again.stderr
    assert new.judge().facts.rows == 10


def test_a_slow_network_only_takes_longer(trips: InBucket, network: Network) -> None:
    with network.toxic("latency", latency=150):
        trips.exact()


@pytest.mark.parametrize("step", ["plan", "run"])
def test_an_endpoint_that_is_down_is_named(trips: InBucket, network: Network, step: str) -> None:
    with network.down():
        done = trips.process(step)
    assert done.returncode == 1
    assert f"127.0.0.1:{network.listens}" in done.stderr
    assert "again" in done.stderr
    trips.exact()


def test_a_receipt_whose_answers_are_lost_is_written_once(
    trips: InBucket, answers: Answers
) -> None:
    planned = trips.process("run", SLUICE_TEST="1", SLUICE_FAILPOINT="before receipt: raise")
    assert planned.returncode == 1, planned.stderr
    with answers.to("PUT", f"{OFFSETS}{COMMIT}", landed=True, answer=500):
        trips.process("run")
    trips.exact()


def test_a_fence_whose_answer_is_lost_is_believed_once_it_is_read_back(
    trips: InBucket, answers: Answers
) -> None:
    words = ("--shift-by", "-5", "--reason", "a test", "--execute")
    with answers.to("PUT", f"{DATA}{COMMIT}", landed=True, answer=500, times=1):
        reset = trips.process("reset", *words)
        assert answers.met()
    assert reset.returncode == 0, reset.stderr
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == 20


def test_files_that_cannot_be_read_now_are_not_taken_for_gone(
    trips: InBucket, answers: Answers
) -> None:
    resources = trips.open().resources
    forward = BatchSequence(trips.name, "forward", 1)
    (batch,) = resources.offsets.snapshot().batches(forward, last=1)
    landed = resources.data.snapshot()
    with (
        answers.to("GET", f"{DATA}/.*{DATA_FILE}", answer=403),
        pytest.raises(StoreUnavailable, match=r"its files cannot be read: .*403"),
    ):
        landed.landing(batch)
    trips.exact()


KEYS = [
    ("a wrong secret", {"password": "canary-of-a-secret"}, "SignatureDoesNotMatch"),
    ("an unknown key", {"login": "nobody"}, "404|403|InvalidAccessKeyId"),
]


@pytest.mark.parametrize(("_", "changes", "said"), KEYS, ids=[each[0] for each in KEYS])
def test_credentials_that_are_refused_are_named_and_not_repeated(
    trips: InBucket, gateway: Gateway, _: str, changes: dict[str, str], said: str
) -> None:
    done = trips.process(
        "plan", AIRFLOW_CONN_SLUICE_WAREHOUSE=gateway.connection(trips.port, **changes)
    )
    assert done.returncode == 1
    assert any(each in done.stderr for each in said.split("|")), done.stderr
    assert "Correct the connection sluice_warehouse" in done.stderr
    assert "move its folder" not in done.stderr
    assert "canary-of-a-secret" not in done.stderr + done.stdout
    trips.exact()


def test_a_bucket_that_is_missing_is_named(trips: InBucket) -> None:
    done = trips.process("run", SLUICE_WAREHOUSE="s3a://nowhere-to-be-found/x")
    assert done.returncode == 1
    assert "NoSuchBucket" in done.stderr
    assert "nowhere-to-be-found" in done.stderr
    trips.exact()


def test_a_store_that_ignores_the_condition_is_refused(trips: InBucket, answers: Answers) -> None:
    with answers.to("PUT", "/_sluice/put_if_absent/", answer=200):
        done = trips.process("run")
    assert done.returncode == 1
    assert "honours `If-None-Match: *`, found one that overwrites" in done.stderr
    trips.exact()
