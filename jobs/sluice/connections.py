"""A connection: how another system is reached, as Airflow keeps it, or `AIRFLOW_CONN_<ID>` says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sluice.errors import SettingsError

_KAFKA = '{"conn_type": "kafka", "extra": {"bootstrap.servers": "…"}}'


@dataclass(frozen=True)
class Connection:
    """One Airflow connection; what it does not say is empty. No error repeats a value of it."""

    name: str
    conn_type: str | None = None
    # It may hold a login or a token as well.
    host: str = field(default="", repr=False)
    port: str = ""
    login: str = ""
    password: str = field(default="", repr=False)
    schema: str = ""
    given_extra: object = field(default=None, repr=False)

    @classmethod
    def from_json(cls, name: str, found: Mapping[str, Any]) -> Connection:
        """That of Airflow's JSON form; null counts as missing."""
        kind = found.get("conn_type")
        own = ("host", "port", "login", "password", "schema")
        return cls(
            name,
            None if kind is None else str(kind),
            **{key: str(found.get(key) or "") for key in own},
            given_extra=found.get("extra"),
        )

    @classmethod
    def find(cls, name: str, environment: Mapping[str, str], example: str) -> Connection | None:
        """That of `AIRFLOW_CONN_<ID>`; None if it is not set. Raises SettingsError."""
        text = environment.get(_variable(name))
        if not text:
            return None
        found = _json_object(text)
        if found is None:
            raise _in_another_form(name, example)
        return cls.from_json(name, found)

    @classmethod
    def require(cls, name: str, environment: Mapping[str, str], example: str) -> Connection:
        """The same. Raises SettingsError also when it is not set."""
        found = cls.find(name, environment, example)
        if found is None:
            variable = _variable(name)
            raise SettingsError(
                f"{variable} is not set. Set it, for example: {variable}='{example}'"
            )
        return found

    @property
    def extra(self) -> Mapping[str, Any]:
        """The keys under Extra. Raises SettingsError when that is another form."""
        found = _json_object(self.given_extra or {})
        if found is None:
            raise self.unusable("extra", "a JSON object", "another form")
        return found

    def unusable(self, key: str, expected: str, found: str) -> SettingsError:
        """The refusal of what the connection says under a key."""
        return SettingsError(
            f"connection {self.name}: {key}: expected {expected}, found {found}. Correct it under"
            f" Admin → Connections, or in {_variable(self.name)}."
        )


def connection_extra(name: str, environment: Mapping[str, str]) -> Mapping[str, Any]:
    """The `extra` of a Kafka connection. Raises SettingsError when it is missing."""
    found = _json_object(Connection.require(name, environment, _KAFKA).given_extra)
    if found is None:
        raise _in_another_form(name, _KAFKA)
    return found


def _json_object(given: object) -> Mapping[str, Any] | None:
    """A JSON object, as a text or read already; None for another form."""
    try:
        found = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _variable(name: str) -> str:
    return f"AIRFLOW_CONN_{name.upper()}"


def _in_another_form(name: str, example: str) -> SettingsError:
    variable = _variable(name)
    return SettingsError(
        f"{variable} is not a connection in JSON form. Expected: {variable}='{example}'"
    )
