"""Java options: how the driver's JVM logs, collects garbage, loads classes and compiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sluice.lake.jars.jar_folder import JarFolder

_LOGGING = Path(__file__).with_name("log4j2.properties")

# A JVM that is given two collectors does not start, and these give it one where it runs.
_OTHERS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")

# So few that a JVM is busier with compiling than with reading them.
FEW_OFFSETS = 50_000
# HotSpot's first compiler only: it compiles at a third of the cost, code that runs a third as fast.
_FOR_FEW = ("-XX:TieredStopAtLevel=1",)
# Its second compiler is called ten times later than by default (5000, 600, 15000, 40000).
_FOR_MANY = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)


def server_options(environment: Mapping[str, str]) -> tuple[str, ...]:
    """For a JVM that lives long: its log, the collector with the least work, the archive."""
    named = any(_COLLECTOR.search(environment.get(each, "")) for each in _OTHERS)
    collector = () if named else ("-XX:+UseParallelGC",)
    options = (f"-Dlog4j2.configurationFile=file:{_LOGGING}", *collector)
    archive = JarFolder.in_environment(environment).class_archive
    if not archive.is_file():
        return options
    # A JVM that an archive does not fit goes without; it need not say so.
    return (*options, f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds*=off")


def options_for(offsets: int | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """For a JVM of one run, which reads so many offsets, or an unknown number (decision 17)."""
    few = offsets is not None and offsets <= FEW_OFFSETS
    return (*server_options(environment), *(_FOR_FEW if few else _FOR_MANY))
