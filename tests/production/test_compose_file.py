"""docker-compose.yml: what Docker Compose makes of it, and what every service of it must have."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from sluice.connections import Connection
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.s3_conf import s3_conf
from sluice.tables.s3_access import CONNECTION, use_connection

from local.embedded.airflow_processes import ROOT
from local.embedded.broker_jars import BROKER
from local.secrets_file import MAKERS, write
from tests.production.worlds.compose_file import (
    BUCKET,
    EVERY_PROFILE,
    FILE,
    Service,
    compose,
    in_bucket,
    services,
)

PROFILES = ("registry", "s3")
# What may be said in .env besides the secrets.
CHOICES = (
    *("SLUICE_WAREHOUSE", "SLUICE_WAREHOUSE_NAME", "SLUICE_GROUP_PREFIX"),
    *("S3_ENDPOINT", "S3_REGION"),
)
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
# Its entry point writes into its own folders, and no tmpfs there would hold what it expects.
WRITE_TO_THEMSELVES = {"kafka", "registry"}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("compose") / ".env"
    assert write(file)
    return file


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Service]:
    """The services when the tables are in a bucket."""
    file = tmp_path_factory.mktemp("bucket") / ".env"
    write(file)
    in_bucket(file)
    return services(file)


@pytest.fixture(scope="module")
def whole(secrets: Path) -> dict[str, Service]:
    return services(secrets, EVERY_PROFILE)


def test_every_profile_is_a_valid_file(secrets: Path, whole: dict[str, Service]) -> None:
    known = services(secrets).keys()
    added = {profile: services(secrets, profile).keys() - known for profile in PROFILES}
    assert added == {"registry": {"registry"}, "s3": {"s3", "s3-bucket"}}
    assert whole.keys() == known | {"registry", "s3", "s3-bucket"}
    assert {each for service in whole.values() for each in service.keys.get("profiles", [])} == {
        *PROFILES
    }


def test_the_secrets_are_those_that_make_env_writes() -> None:
    named = re.findall(r"\$\{(\w+)([^}]*)\}", FILE.read_text("utf-8"))
    secret = [(name, default) for name, default in named if name not in CHOICES]
    assert {name for name, _ in secret} == set(MAKERS)
    assert {default for _, default in secret} == {":?run `make env`"}


@pytest.mark.parametrize("missing", MAKERS)
def test_without_a_secret_nothing_starts_and_its_name_is_told(
    missing: str, secrets: Path, tmp_path: Path
) -> None:
    lines = secrets.read_text("utf-8").splitlines()
    (tmp_path / ".env").write_text("\n".join(x for x in lines if not x.startswith(missing)))
    done = compose("--profile", EVERY_PROFILE, "config", "--quiet", secrets=tmp_path / ".env")
    assert done.returncode != 0
    assert f"{missing} is missing a value: run `make env`" in done.stderr


def test_without_any_secret_the_message_says_what_to_do() -> None:
    done = compose("config", "--quiet", secrets=None)
    assert done.returncode != 0
    assert re.search(r"required variable \w+ is missing a value: run `make env`", done.stderr)


def test_secrets_are_private_random_and_never_overwritten(secrets: Path, tmp_path: Path) -> None:
    before = secrets.read_text("utf-8")
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert write(secrets) == []
    assert secrets.read_text("utf-8") == before
    assert write(tmp_path / ".env") == list(MAKERS)
    assert not set(before.splitlines()) & set((tmp_path / ".env").read_text("utf-8").splitlines())


def test_make_env_adds_what_an_older_file_lacks_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("POSTGRES_PASSWORD=known\nCOMPOSE_PROFILES=s3", "utf-8")
    assert write(file) == [name for name in MAKERS if name != "POSTGRES_PASSWORD"]
    lines = file.read_text("utf-8").splitlines()
    assert lines[:2] == ["POSTGRES_PASSWORD=known", "COMPOSE_PROFILES=s3"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert compose("config", "--quiet", secrets=file).returncode == 0


def test_every_service_is_restricted(whole: dict[str, Service]) -> None:
    for name, service in whole.items():
        keys = service.keys
        assert keys["cap_drop"] == ["ALL"], name
        assert keys["security_opt"] == ["no-new-privileges:true"], name
        assert keys.get("read_only", False) == (name not in WRITE_TO_THEMSELVES), name
        assert {"mem_limit", "cpus", "pids_limit"} <= keys.keys(), name
        assert "privileged" not in keys, name
        assert keys["logging"]["options"]["max-size"], name


def test_every_service_tells_its_health_or_ends_by_itself(whole: dict[str, Service]) -> None:
    waits = [each.needs for each in whole.values()]
    for name, service in whole.items():
        conditions = {each[name] for each in waits if name in each}
        if service.check:
            assert conditions <= {"service_healthy"}, name
        else:
            assert conditions == {"service_completed_successfully"}, name
            assert service.keys["restart"] == "no", name


def test_ports_are_published_on_loopback_only(whole: dict[str, Service]) -> None:
    published = [port for each in whole.values() for port in each.keys.get("ports", [])]
    assert published
    assert {port["host_ip"] for port in published} == {"127.0.0.1"}
    numbers = [port["published"] for port in published]
    assert len(numbers) == len(set(numbers))


def test_every_image_is_pinned_and_ours_is_one(whole: dict[str, Service]) -> None:
    images = {each.keys["image"] for each in whole.values()}
    for image in images | set(re.findall(r"^FROM (\S+:\S+)", DOCKERFILE, re.MULTILINE)):
        assert re.search(r":v?\d+\.\d+\.\d+|:\d+\.\d+-", image), image
    assert [image for image in images if image.startswith("sluice:")] == ["sluice:0.1.0"]


def test_the_images_of_kafka_and_the_gateway_are_the_versions_that_are_tested(
    whole: dict[str, Service],
) -> None:
    (kafka,) = re.findall(r'name="kafka_2\.13" rev="([\d.]+)"', BROKER.ivy.read_text())
    (gateway,) = re.findall(r"versitygw@(v[\d.]+)", (ROOT / "local" / "servers.sh").read_text())
    assert whole["kafka"].keys["image"] == f"apache/kafka:{kafka}"
    assert whole["s3"].keys["image"] == f"versity/versitygw:{gateway}"


def test_all_that_read_or_write_tables_have_one_warehouse(whole: dict[str, Service]) -> None:
    settings = {
        name: each.environment["SLUICE_WAREHOUSE"]
        for name, each in whole.items()
        if "SLUICE_WAREHOUSE" in each.environment
    }
    assert len(set(settings.values())) == 1
    for name, place in settings.items():
        mounted = (place, "warehouse") in whole[name].mounts
        assert mounted == (name != "spark-master"), name


def test_two_lines_in_env_put_the_tables_into_a_bucket(bucket: dict[str, Service]) -> None:
    told = FILE.read_text("utf-8").replace("#   ", "")
    assert BUCKET in told
    settings = [each.environment.get("SLUICE_WAREHOUSE") for each in bucket.values()]
    assert {*settings} - {None} == {"s3a://sluice/warehouse"}
    assert bucket["airflow-scheduler-1"].needs["s3"] == "service_healthy"


def test_the_spark_server_is_told_all_that_a_bucket_needs(
    whole: dict[str, Service], bucket: dict[str, Service]
) -> None:
    tasks, server = bucket["airflow-scheduler-1"], bucket["spark-connect"]
    reached: dict[str, str] = {}
    use_connection(Connection.find(CONNECTION, tasks.environment, ""), reached)
    assert s3_conf(reached).items() <= server.settings.items()
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    assert {key: server.environment[key] for key in keys} == {key: reached[key] for key in keys}
    for key in ("spark.driver.extraClassPath", "spark.executor.extraClassPath"):
        jars = JarFolder(Path("/opt/sluice/.venv/share/sluice/jars"))
        assert server.settings[key] == jars.class_path(on_s3=True)
        assert whole["spark-connect"].settings[key] == jars.class_path(on_s3=False)


def test_a_bucket_elsewhere_is_named_once_for_all(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    write(file)
    there = {"S3_ENDPOINT": "https://s3.example.com", "S3_REGION": "eu-central-1"}
    with file.open("a", encoding="utf-8") as lines:
        lines.writelines(f"{name}={text}\n" for name, text in there.items())
        lines.write("SLUICE_WAREHOUSE=s3a://lake/warehouse\n")
    found = services(file)
    reached: dict[str, str] = {}
    tasks = found["airflow-scheduler-1"]
    use_connection(Connection.find(CONNECTION, tasks.environment, ""), reached)
    assert {"https://s3.example.com", "eu-central-1"} <= set(reached.values())
    assert s3_conf(reached).items() <= found["spark-connect"].settings.items()


def test_the_two_schedulers_and_the_two_workers_differ_in_their_names_only(
    whole: dict[str, Service],
) -> None:
    for kind in ("airflow-scheduler", "spark-worker"):
        renamed = str(whole[f"{kind}-1"].keys).replace(f"{kind}-1", f"{kind}-2")
        assert renamed == str(whole[f"{kind}-2"].keys)


def test_no_secret_is_in_a_command(whole: dict[str, Service], secrets: Path) -> None:
    values = [line.split("=", 1)[1] for line in secrets.read_text("utf-8").splitlines()]
    for name, service in whole.items():
        said = " ".join([*service.command, *service.check])
        assert not any(value in said for value in values), name


def test_the_image_downloads_nothing_when_it_runs_and_is_not_roots(
    whole: dict[str, Service],
) -> None:
    assert not any("--packages" in word for each in whole.values() for word in each.command)
    assert "--require-hashes" in DOCKERFILE
    assert re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE) == ["sluice"]


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for path in (path for line in copied for path in line.split()):
        assert (ROOT / path).exists(), path
        assert f"!{path}" in kept or f"!{path.split('/')[0]}" in kept, path


def test_the_image_is_built_once_and_never_fetched(whole: dict[str, Service]) -> None:
    """Several services that build the same tag at once are in each other's way."""
    ours = {name: each.keys for name, each in whole.items() if each.keys["image"] == "sluice:0.1.0"}
    assert [name for name, keys in ours.items() if "build" in keys] == ["airflow-init"]
    assert {keys["pull_policy"] for keys in ours.values()} == {"never", "build"}
