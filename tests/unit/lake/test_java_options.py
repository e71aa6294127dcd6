"""Loggers whose words are left out are there: a newer Spark may have moved them."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyspark
import sluice.lake
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import SPARK

LOGGING = Path(sluice.lake.__file__).with_name("log4j2.properties").read_text("utf-8")
# In the jars for a bucket, which not every installation has.
OF_S3 = {"org.apache.hadoop.fs.s3a"}


def test_each_logger_that_is_named_is_a_class_or_a_package_of_the_jars() -> None:
    named = {*re.findall(r"^logger\.\w+\.name = (\S+)$", LOGGING, re.MULTILINE)}
    assert named - OF_S3 <= {*classes_and_packages()}


def classes_and_packages() -> Iterator[str]:
    ours = JarFolder.in_environment(os.environ).of(SPARK)
    for jar in (*Path(pyspark.__file__).parent.glob("jars/*.jar"), *ours.glob("*.jar")):
        with zipfile.ZipFile(jar) as opened:
            for name in opened.namelist():
                parts = Path(name.removesuffix(".class")).parts
                yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
