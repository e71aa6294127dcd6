"""What a Spark server must have: another version of Delta is named."""

from __future__ import annotations

import pytest
from sluice.errors import SettingsError
from sluice.lake.requirements import require_delta


def test_another_version_of_delta_is_refused_with_both() -> None:
    require_delta("spark:15002", "4.4.0", "4.4.0")
    with pytest.raises(SettingsError, match=r"spark:15002: expected Delta 4\.4\.0 .* Delta 4\.0"):
        require_delta("spark:15002", "4.4.0", "4.0.0")
