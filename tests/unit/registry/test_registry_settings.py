"""A connection to a schema registry: what it may say, and that no secret of it is ever told."""

from __future__ import annotations

import base64
import json
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.connections import Connection
from sluice.errors import SettingsError
from sluice.registry.registry_settings import RegistrySettings

URL = {"url": "https://registry:8081"}
SECRET = "hunter2"


def settings(**found: Any) -> RegistrySettings:
    return RegistrySettings.from_connection(Connection.from_json("schema_registry_default", found))


def login(made: RegistrySettings) -> str:
    kind, _, text = made.headers()["Authorization"].partition(" ")
    assert kind == "Basic"
    return base64.b64decode(text).decode()


@pytest.mark.parametrize(
    ("found", "urls"),
    [
        ({"extra": URL}, ["https://registry:8081"]),
        ({"extra": json.dumps(URL)}, ["https://registry:8081"]),
        ({"host": "registry", "port": 8081}, ["http://registry:8081"]),
        ({"host": "registry", "schema": "https"}, ["https://registry"]),
        ({"host": "https://registry/", "port": 8081}, ["https://registry:8081"]),
        ({"host": "https://registry", "port": 8081, "extra": ""}, ["https://registry:8081"]),
        ({"extra": {"url": "http://a:1/apis/ccompat/v7/, http://b:2"}}, None),
        ({"extra": {"url": "https://alice:hunter2@registry"}}, ["https://registry"]),
        ({"extra": {"url": "http://[::1]:8081"}}, ["http://[::1]:8081"]),
    ],
    ids=str,
)
def test_where_the_registry_is(found: dict[str, Any], urls: list[str] | None) -> None:
    assert list(settings(**found).urls) == (urls or ["http://a:1/apis/ccompat/v7", "http://b:2"])


@pytest.mark.parametrize(
    "found",
    [
        {"extra": URL, "login": "alice", "password": SECRET},
        {"host": "registry", "login": "alice", "password": SECRET},
        {"extra": {**URL, "basic.auth.user.info": f"alice:{SECRET}"}},
        {
            "extra": {
                **URL,
                "basic.auth.credentials.source": "USER_INFO",
                "basic.auth.user.info": f"alice:{SECRET}",
            }
        },
        {
            "extra": {
                "url": f"https://alice:{SECRET}@registry",
                "basic.auth.credentials.source": "URL",
            }
        },
    ],
    ids=lambda found: "+".join([*found, *found.get("extra", {})]),
)
def test_a_login_and_where_it_may_stand(found: dict[str, Any]) -> None:
    made = settings(**found)
    assert login(made) == f"alice:{SECRET}"
    assert SECRET not in f"{made!r} {made} {made.urls}"


def test_a_percent_quoted_login_in_the_url() -> None:
    assert login(settings(extra={"url": "https://a%40b:c%3Ad@registry"})) == "a@b:c:d"


def test_without_a_login_nothing_is_said() -> None:
    assert settings(extra=URL).headers() == {}


def test_a_token_and_what_goes_beside_it() -> None:
    extra = {
        **URL,
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": SECRET,
        "bearer.auth.logical.cluster": "lsrc-1",
        "bearer.auth.identity.pool.id": "pool-1",
    }
    assert settings(extra=extra).headers() == {
        "Authorization": f"Bearer {SECRET}",
        "target-sr-cluster": "lsrc-1",
        "Confluent-Identity-Pool-Id": "pool-1",
    }


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "extra.url: expected https://host:port, found nothing"),
    ({"extra": "no JSON hunter2"}, "extra: expected a JSON object"),
    ({"extra": ["hunter2"]}, "extra: expected a JSON object"),
    ({"extra": {**URL, "basic.auth.password": SECRET}}, "expected only url, basic.auth.cred"),
    ({"extra": {**URL, "basic.auth.password": None}}, "found basic.auth.password"),
    ({"extra": URL, "host": "hunter2"}, "extra.url, host: expected one of them, found both"),
    ({"extra": {"url": "registry:8081"}}, "url: expected https"),
    ({"extra": {"url": "ftp://hunter2"}}, "url: expected https"),
    ({"extra": {"url": "https://:8081"}}, "url: expected https"),
    ({"extra": {"url": "https://host:hunter2"}}, "url: expected https"),
    ({"extra": {"url": "https://host:99999"}}, "url: expected https"),
    ({"extra": {"url": "https://host?token=hunter2"}}, "url: expected https"),
    ({"extra": {"url": "https://[hunter2"}}, "url: expected https"),
    ({"extra": {"url": "https://host,"}}, "url: expected https"),
    ({"extra": {"url": "https://ho st"}}, "url: expected https"),
    ({"extra": URL, "password": SECRET}, "login, password: expected both"),
    ({"extra": URL, "login": "a:b", "password": SECRET}, "login: expected a name without"),
    (
        {"extra": {**URL, "basic.auth.user.info": f"a:{SECRET}"}, "login": "a"},
        "extra.basic.auth.user.info, login: expected one of them",
    ),
    ({"extra": {**URL, "basic.auth.user.info": SECRET}}, "expected user:password"),
    (
        {"extra": {"url": f"https://a:{SECRET}@b", "basic.auth.user.info": f"a:{SECRET}"}},
        "expected a login in one of them",
    ),
    (
        {"extra": {**URL, "basic.auth.credentials.source": "SASL_INHERIT"}},
        "expected USER_INFO or URL",
    ),
    ({"extra": {**URL, "basic.auth.credentials.source": "USER_INFO"}}, "user:password, found noth"),
    ({"extra": {**URL, "basic.auth.credentials.source": "URL"}}, "found one without a login"),
    ({"extra": {**URL, "bearer.auth.token": f"{SECRET}\n"}}, "printable ASCII"),
    ({"extra": {**URL, "bearer.auth.logical.cluster": SECRET}}, "bearer.auth.token: expected a t"),
    ({"extra": {**URL, "bearer.auth.credentials.source": "CUSTOM"}}, "expected STATIC_TOKEN"),
    ({"extra": {**URL, "bearer.auth.token": SECRET}, "login": "a"}, "expected one of them"),
    ({"extra": {**URL, "ssl.certificate.pem": SECRET}}, "ssl.key.pem (or .location) together"),
]


@pytest.mark.parametrize(("found", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_is_refused_is_named_and_not_repeated(found: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings(**found)
    assert said in str(refused.value)
    assert str(refused.value).startswith("connection schema_registry_default: ")
    assert "Correct it under" in str(refused.value)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


@given(
    st.dictionaries(
        st.sampled_from(["url", "basic.auth.user.info", "bearer.auth.token", "ssl.ca.pem"]),
        st.text().map(lambda text: f"{text}hunter2"),
    ),
    st.text(),
)
def test_no_text_breaks_it_or_is_repeated(extra: dict[str, str], host: str) -> None:
    told = ""
    try:
        settings(extra=extra, host=host).headers()
    except SettingsError as refused:
        told = str(refused)
    assert SECRET not in told


def test_unusable_certificates_are_named_with_the_connection() -> None:
    made = settings(extra={**URL, "ssl.ca.location": "/nowhere/ca.pem"})
    with pytest.raises(SettingsError, match=r"^connection schema_registry_default: ssl\.\*"):
        made.tls()


def test_from_the_environment() -> None:
    name = "AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"
    given = {name: json.dumps({"conn_type": "http", "host": "registry"})}
    made = RegistrySettings.from_environment("schema_registry_default", given)
    assert made.urls == ("http://registry",)
    with pytest.raises(SettingsError, match=f"{name} is not set"):
        RegistrySettings.from_environment("schema_registry_default", {})
    with pytest.raises(SettingsError, match="not a connection in JSON form") as refused:
        RegistrySettings.from_environment("schema_registry_default", {name: f"http://{SECRET}"})
    assert SECRET not in str(refused.value)


def test_a_text_of_the_registry_that_repeats_a_secret_is_left_out() -> None:
    made = settings(extra=URL, login="alice", password=SECRET)
    assert made.without_secrets("no such subject") == "no such subject"
    for told in (SECRET, made.headers()["Authorization"]):
        assert SECRET not in made.without_secrets(f"you sent {told}")
        assert told not in made.without_secrets(f"you sent {told}")


@pytest.mark.parametrize("quoted", ["p%40ss%2Fw%C3%B6rd", "p%40ss/w%c3%b6rd", "p@ss/wörd"])
def test_a_secret_is_left_out_however_an_address_quotes_it(quoted: str) -> None:
    made = settings(extra={"url": "https://alice:p%40ss%2Fw%c3%b6rd@registry"})
    login = settings(extra=URL, login="alice", password="p@ss/wörd")
    for each in (made, login):
        assert quoted not in each.without_secrets(f"nothing at https://alice:{quoted}@registry")
