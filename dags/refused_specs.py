"""Raises the import errors of all refused specs, and of those whose table another one names, too;
this file has no DAGs of its own.

Airflow stops scheduling all DAGs of a file that has an import error. So the errors are raised
here, and `kafka_to_delta.py` continues with the good specs.
"""

from __future__ import annotations

from sluice.errors import SpecError, as_lines
from sluice.scheduling.deployment import project_settings
from sluice.spec_folder import read_specs

found = read_specs(project_settings().pipelines)
problems = [*found.refused.values(), *found.contested.values()]

if problems:
    raise SpecError(as_lines(map(str, problems)))
