"""What is decoded is decoded as the product does it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def as_the_product_decodes(compiling: None) -> None:
    """Spark compiles what can be compiled."""
