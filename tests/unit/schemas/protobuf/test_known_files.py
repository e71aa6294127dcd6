"""The known files are those of Confluent's and Google's own packages."""

from __future__ import annotations

import pytest
from sluice.schemas.protobuf.known_files import KNOWN, KNOWN_SET, WELL_KNOWN

from local.known_protos import known_files


def test_they_are_what_the_installed_packages_have() -> None:
    told = "other versions of the packages: run python -m local.known_protos, and read the changes"
    assert known_files().SerializeToString() == KNOWN_SET, told


@pytest.mark.parametrize(
    "name",
    [
        *("confluent/meta.proto", "confluent/type/decimal.proto", "confluent/types/decimal.proto"),
        *("google/type/date.proto", "google/type/money.proto", "google/type/timeofday.proto"),
    ],
)
def test_what_clients_never_register_is_there(name: str) -> None:
    assert name in KNOWN


def test_no_file_of_googles_library_is_among_them() -> None:
    assert not KNOWN.keys() & WELL_KNOWN.keys()
