"""Whether Spark is given its jars by others: a spec, its own configuration, or its own folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

_KEYS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_LINE = re.compile(rf"^\s*(?:{'|'.join(map(re.escape, _KEYS))})[\s=:]+\S", re.MULTILINE)


def supplies_jars(spec: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    """Whether the Spark that is started here has jars without us.

    It has if the `spark` section of a spec or Spark's `spark-defaults.conf` names jars or a class
    path, or if Delta is among Spark's own jars.
    """
    if any(spec.get(key) for key in _KEYS):
        return True
    home = spark_home(environment)
    if home is None:
        return False
    defaults = Path(environment.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    if defaults.is_file() and _LINE.search(defaults.read_text(encoding="utf-8")):
        return True
    return any((home / "jars").glob("delta-spark_*.jar"))


def spark_home(environment: Mapping[str, str]) -> Path | None:
    """The folder of the Spark that is started here: `SPARK_HOME`, else pyspark's; None for none."""
    if given := environment.get("SPARK_HOME"):
        return Path(given)
    found = find_spec("pyspark")
    return Path(found.origin).parent if found and found.origin else None
