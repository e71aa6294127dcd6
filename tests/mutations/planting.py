"""Planting: a copy of the product with a mutation in it, beside the jars that the product needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pyspark
from sluice.lake.jars.jar_folder import SETTING, JarFolder
from sluice.lake.jars.jar_set import SPARK

from tests.mutations.mutation import Mutation

ROOT = Path(__file__).resolve().parents[2]
JARS = JarFolder.in_environment(os.environ).of(SPARK)
OWN = "sluice.jar"
SPARK_JARS = Path(pyspark.__file__).parent / "jars"


def plant(mutation: Mutation, folder: Path) -> Path:
    """The copy's `jobs`. A mutation in Scala is compiled, and stands in the copy's own jar."""
    jobs = folder / "jobs"
    shutil.copytree(ROOT / "jobs", jobs, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    source = jobs / mutation.file
    source.write_text(mutation.of(ROOT / "jobs"), encoding="utf-8")
    if source.suffix == ".scala":
        jars = folder / "jars" / "spark"
        jars.mkdir(parents=True)
        for each in JARS.iterdir():
            if each.name != OWN:
                (jars / each.name).symlink_to(each)
        _compile_into(jars / OWN, source, folder / "classes")
        shutil.copyfile(jars / OWN, jobs / "sluice" / "lake" / "jars" / OWN)
    return jobs


def environment_of(jobs: Path) -> dict[str, str]:
    """The environment in which the copy runs, with its own jars if it has some."""
    jars = jobs.with_name("jars")
    own = {SETTING: str(jars)} if jars.is_dir() else {}
    return {**os.environ, "PYTHONPATH": f"{jobs}{os.pathsep}{ROOT}", **own}


def _compile_into(jar: Path, source: Path, classes: Path) -> None:
    """Our jar, with a source's classes in the place of those that it has."""
    classes.mkdir()
    compiler = ["java", "-cp", f"{SPARK_JARS}/*", "scala.tools.nsc.Main", "-usejavacp"]
    subprocess.run(
        [*compiler, "-classpath", f"{JARS}/*", "-d", classes, source],
        env={**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
        check=True,
    )
    mutated = {str(each.relative_to(classes)): each for each in classes.rglob("*.class")}
    with zipfile.ZipFile(JARS / OWN) as ours, zipfile.ZipFile(jar, "w") as made:
        for name in ours.namelist():
            if name not in mutated:
                made.writestr(name, ours.read(name))
        for name, place in mutated.items():
            made.write(place, name)
