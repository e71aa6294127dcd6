"""The connection of a bucket becomes the variables of AWS' own clients; nothing secret is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.connections import Connection
from sluice.errors import SettingsError
from sluice.tables.s3_access import reach_warehouse, use_connection, variables_of

SECRET = "canary-of-a-secret"
KEYS = {"login": "me", "password": SECRET}
IN_BUCKET = {"SLUICE_WAREHOUSE": "s3a://lake/warehouse"}


def aws(**fields: Any) -> Connection:
    return Connection.from_json("sluice_warehouse", {"conn_type": "aws", **fields})


def test_keys_region_endpoint_and_style_become_variables() -> None:
    extra = {
        "endpoint_url": "https://s3.example",
        "region_name": "eu-central-1",
        "aws_session_token": "t",
        "addressing_style": "virtual",
    }
    assert variables_of(aws(**KEYS, extra=json.dumps(extra))) == {
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_SESSION_TOKEN": "t",
        "AWS_ENDPOINT_URL": "https://s3.example",
        "AWS_REGION": "eu-central-1",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true",
    }


def test_without_a_connection_the_environment_stays_what_it_is() -> None:
    environment = {"AWS_ACCESS_KEY_ID": "theirs", "AWS_DEFAULT_REGION": "us-west-2"}
    reach_warehouse(environment)
    assert environment["AWS_ACCESS_KEY_ID"] == "theirs"
    assert environment["AWS_REGION"] == "us-west-2"
    assert environment["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] == "true"


def test_keys_of_the_connection_do_not_meet_another_identitys_token() -> None:
    environment = {"AWS_ACCESS_KEY_ID": "theirs", "AWS_SESSION_TOKEN": "theirs"}
    use_connection(aws(**KEYS), environment)
    assert environment["AWS_ACCESS_KEY_ID"] == "me"
    assert "AWS_SESSION_TOKEN" not in environment


def test_an_endpoint_of_ones_own_is_asked_by_path_and_without_tls_only_if_it_says_so() -> None:
    environment: dict[str, str] = {}
    use_connection(aws(extra={"endpoint_url": "http://127.0.0.1:7070"}), environment)
    assert environment["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] == "false"
    assert environment["AWS_ALLOW_HTTP"] == "true"
    secure: dict[str, str] = {}
    use_connection(aws(extra={"endpoint_url": "https://s3.example"}), secure)
    assert "AWS_ALLOW_HTTP" not in secure


@pytest.mark.parametrize(
    ("connection", "said"),
    [
        (aws(conn_type="s3", **KEYS), "conn_type: expected `aws`, found 's3'"),
        (aws(password=SECRET), "login, password: expected both"),
        (aws(extra={"region": "x", "key": SECRET}), "found key, region"),
        (aws(extra={"addressing_style": "auto"}), "expected `path` or `virtual`, found 'auto'"),
        (aws(extra={"endpoint_url": f"https://me:{SECRET}@s3.example"}), "https://host"),
        (aws(extra={"endpoint_url": "s3.example"}), "https://host"),
        (aws(extra=f"{{{SECRET}"), "extra: expected a JSON object"),
    ],
)
def test_a_connection_that_cannot_be_used_is_refused(connection: Connection, said: str) -> None:
    with pytest.raises(SettingsError, match="connection sluice_warehouse: ") as refused:
        variables_of(connection)
    assert said in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_connection_without_an_endpoint_means_aws_whatever_the_environment_says() -> None:
    environment = {"AWS_ENDPOINT_URL": "http://127.0.0.1:7070"}
    use_connection(aws(**KEYS), environment)
    assert "AWS_ENDPOINT_URL" not in environment
    assert environment["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] == "true"
    assert "AWS_ALLOW_HTTP" not in environment


def test_the_server_of_a_bucket_is_not_asked_for_credentials() -> None:
    environment: dict[str, str] = {}
    use_connection(aws(extra={"endpoint_url": "https://s3.example"}), environment)
    assert environment["AWS_ENDPOINT_URL_STS"] == "https://sts.us-east-1.amazonaws.com"
    theirs = {"AWS_ENDPOINT_URL_STS": "https://vpce.example"}
    use_connection(aws(extra={"endpoint_url": "https://s3.example"}), theirs)
    assert theirs["AWS_ENDPOINT_URL_STS"] == "https://vpce.example"


def test_without_a_connection_the_environments_endpoint_counts() -> None:
    environment = {"AWS_ENDPOINT_URL": "https://s3.example"}
    use_connection(None, environment)
    assert environment["AWS_ENDPOINT_URL"] == "https://s3.example"


@pytest.mark.parametrize("name", ["AWS_S3_ALLOW_UNSAFE_RENAME", "AWS_S3_LOCKING_PROVIDER"])
def test_another_way_of_committing_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: expected it unset"):
        reach_warehouse({**IN_BUCKET, name: "true"})


@pytest.mark.parametrize(
    "name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "ENDPOINT_URL", "endpoint"]
)
def test_another_name_of_the_endpoint_is_refused(name: str) -> None:
    """delta-rs, the probe and Spark each follow other names: their tables would be two."""
    environment = {**IN_BUCKET, name: f"https://me:{SECRET}@s3.example"}
    for reach in (reach_warehouse, lambda found: use_connection(aws(**KEYS), found)):
        with pytest.raises(SettingsError, match=f"{name}: expected it unset") as refused:
            reach(environment)
        assert "`endpoint_url`" in str(refused.value)
        assert SECRET not in str(refused.value)


def test_tables_on_a_disk_do_not_mind() -> None:
    reach_warehouse({"SLUICE_WAREHOUSE": "/lake", "ENDPOINT": "https://theirs.example"})
