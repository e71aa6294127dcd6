"""Spark's JVM among a machine's processes."""

from __future__ import annotations

from pathlib import Path

import psutil


def is_spark(process: psutil.Process) -> bool:
    """Whether it is Spark's JVM, not the script that starts it, nor that script's own JVM."""
    try:
        arguments = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    named = "org.apache.spark.deploy.SparkSubmit" in arguments
    java = named and Path(arguments[0]).name == "java"
    return java and "org.apache.spark.launcher.Main" not in arguments
