"""Arrow's datasets, loaded without pandas, which nothing here uses, and outlived by the process."""

from __future__ import annotations

import atexit
import sys
import time
from importlib.abc import MetaPathFinder

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    """Makes `import pandas` fail as if it were not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Raises ModuleNotFoundError for pandas; leaves all else to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


# With the first value it makes, pyarrow looks once whether pandas is there, and loads all of it.
# Where something asks for pandas by name (`to_pandas`), it looks again.
_absence = _NoPandas()
sys.meta_path.insert(0, _absence)
try:
    pa.scalar(None)
finally:
    sys.meta_path.remove(_absence)

from pyarrow import dataset  # noqa: E402

# Arrow's threads let go of what they read a moment after the reader has it. A process that ends in
# this moment is aborted (apache/arrow#34314): one in five that did nothing else.
_LAST_MOMENT = 0.05  # seconds
atexit.register(time.sleep, _LAST_MOMENT)

__all__ = ["dataset"]
