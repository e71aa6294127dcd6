"""A session has the settings that rows depend on, wherever other ones come from."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from sluice.errors import SettingsError, SpecError
from sluice.lake.session import session_conf
from sluice.lake.session_settings import hold_to
from sluice.spec_file.spark_keys import EXACT_CONF

from tests.unit.builders import spec

HOSTILE = {
    **dict.fromkeys(EXACT_CONF, "another"),
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.databricks.delta.properties.defaults.appendOnly": "true",
}


class Fixed(AnalysisException):
    """As Spark says it."""

    def getCondition(self) -> str:
        return "CANNOT_MODIFY_CONFIG"


class Session:
    """The settings of a session, some of which no client can change."""

    def __init__(self, found: dict[str, str], fixed: frozenset[str] = frozenset()) -> None:
        self.found, self.fixed = dict(found), fixed

    @property
    def getAll(self) -> dict[str, str]:
        return dict(self.found)

    def set(self, key: str, value: str) -> None:
        self._change(key)
        self.found[key] = value

    def unset(self, key: str) -> None:
        self._change(key)
        del self.found[key]

    def _change(self, key: str) -> None:
        if key in self.fixed:
            raise Fixed(key)


def test_hostile_settings_become_ours_or_go() -> None:
    session, ours = Session(HOSTILE), session_conf(spec())
    hold_to(session, ours, "here")
    assert session.found == ours


@pytest.mark.parametrize("key", EXACT_CONF)
def test_what_cannot_be_set_is_refused_by_name(key: str) -> None:
    session = Session(HOSTILE, frozenset({key}))
    with pytest.raises(SettingsError, match=f"here: expected {key}={EXACT_CONF[key]}, .* another"):
        hold_to(session, session_conf(spec()), "here")


def test_a_setting_of_the_spec_that_is_fixed_is_the_specs_to_mend() -> None:
    ours = {**session_conf(spec()), "spark.sql.shuffle.partitions": "7"}
    with pytest.raises(SpecError, match=r"spark: spark.sql.shuffle.partitions: expected"):
        hold_to(Session({}, frozenset({"spark.sql.shuffle.partitions"})), ours, "here")


def test_a_default_that_was_fixed_at_the_start_and_is_nothing_to_a_query_stays() -> None:
    key = "spark.sql.sources.default"
    session = Session({key: "x"}, frozenset({key}))
    hold_to(session, session_conf(spec()), "here")
    assert session.found[key] == "x"
