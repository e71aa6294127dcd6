"""Versions are compared as Maven and Python compare them, and a range has one form."""

from __future__ import annotations

from itertools import pairwise

import pytest

from local.audit.versions import Ecosystem, UnknownRange, is_in, maven_order

# Each is older than the next (Maven's "Version Order Specification").
ASCENDING = (
    "1-alpha-1",
    "1-beta",
    "1-m2",
    "1-rc1",
    "1-SNAPSHOT",
    "1.0",
    "1-sp",
    "1-xyz",
    "1.0.1",
    "1.2",
    "1.10",
    "1.11.0",
    "1.11.2",
    "4.1.135.Final",
    "4.2.13.Final",
    "4.2.13.Final-linux-x86_64",
    "4.2.14.Final",
)


@pytest.mark.parametrize(("older", "newer"), list(pairwise(ASCENDING)))
def test_maven_versions_have_mavens_order(older: str, newer: str) -> None:
    assert maven_order(older) < maven_order(newer)
    assert not maven_order(newer) < maven_order(older)


@pytest.mark.parametrize(
    "same", [("1", "1.0.0"), ("1.0.Final", "1"), ("2.0-rc1", "2-cr1"), ("1.0-GA", "1")]
)
def test_two_ways_to_write_a_maven_version_are_one(same: tuple[str, str]) -> None:
    assert maven_order(same[0]) == maven_order(same[1])


@pytest.mark.parametrize(
    ("version", "given", "ecosystem", "expected"),
    [
        ("1.11.0", "<1.11.2", "maven", True),
        ("1.11.2", "<1.11.2", "maven", False),
        ("1.6.9", ">=1.7.0,<1.11.4", "maven", False),
        ("4.1.2", ">=2.4.0, <=4.1.2", "maven", True),
        ("1.10", "<1.9", "pypi", False),
        ("50.0.0rc1", "<50.0.0", "pypi", True),
        ("50.0.0.post1", "<=50.0.0", "pypi", False),
    ],
)
def test_a_version_is_in_a_range(
    version: str, given: str, ecosystem: Ecosystem, expected: bool
) -> None:
    assert is_in(version, given, ecosystem) is expected


@pytest.mark.parametrize("given", ["", "1.0", "~=1.0", "==1.0", "<1.0 || >2.0", "[1.0,2.0)", "<"])
def test_a_range_in_another_form_is_an_error(given: str) -> None:
    with pytest.raises(UnknownRange, match="expected a range such as"):
        is_in("1.0", given, "maven")


def test_a_python_version_in_another_form_is_an_error() -> None:
    with pytest.raises(UnknownRange, match="one"):
        is_in("one", "<1.0", "pypi")
