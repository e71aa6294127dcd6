"""Faults of processes: killed, frozen, doubled, or stopped at a step of the protocol."""

from __future__ import annotations

import contextlib

import psutil

from local.embedded.guard import still_there
from tests.soak.attempts import Attempt
from tests.soak.outcomes import EXCUSED_BY, KILLED
from tests.soak.scene import Scene
from tests.soak.schedule import Fault


def kill_run(scene: Scene, fault: Fault) -> bool:
    """The driver and its JVM."""
    attempt = _without_driver(scene, fault)
    if attempt is not None:
        _kill(*attempt.family())
    return attempt is not None


def kill_driver(scene: Scene, fault: Fault) -> bool:
    """The Python process alone: its JVM lives on for a while."""
    return _without_driver(scene, fault) is not None


def _without_driver(scene: Scene, fault: Fault) -> Attempt | None:
    """An attempt whose Python process was killed just now; None where none was running."""
    _await_write(scene, fault)
    attempt = scene.attempts.pick(fault.share)
    if attempt is not None:
        attempt.excuses.add(KILLED)
        attempt.run.process.kill()
    return attempt


def kill_jvm(scene: Scene, fault: Fault) -> bool:
    _await_write(scene, fault)
    attempt = scene.attempts.pick(fault.share)
    if attempt is None or not (jvms := attempt.jvms()):
        return False
    attempt.excuses.add("SparkFailed")
    _kill(*jvms)
    return True


def freeze_jvm(scene: Scene, fault: Fault) -> bool:
    attempt = scene.attempts.pick(fault.share)
    return attempt is not None and _freeze(scene, fault, attempt.jvms())


def freeze_driver(scene: Scene, fault: Fault) -> bool:
    attempt = scene.attempts.pick(fault.share)
    return attempt is not None and _freeze(scene, fault, _driver(attempt))


def double(scene: Scene, fault: Fault) -> bool:
    """A second run, next to the one that runs."""
    scene.attempts.wait(scene.attempts.start("run"))
    return True


def arm(scene: Scene, fault: Fault) -> bool:
    """The next run stops at a step of the protocol."""
    return _arm(scene, fault, "SLUICE_FAILPOINT")


def arm_commit(scene: Scene, fault: Fault) -> bool:
    """The next run stops inside a commit: see FaultyLogStore."""
    return _arm(scene, fault, "SLUICE_TEST_COMMIT")


def _arm(scene: Scene, fault: Fault, variable: str) -> bool:
    # One waits at most: there must be runs that nothing stops.
    if scene.attempts.failpoints:
        return False
    scene.attempts.failpoints.append((variable, fault.point, _excused(fault)))
    return True


def _await_write(scene: Scene, fault: Fault) -> None:
    """Until something is written, or not in time: else most kills would hit the start of Spark."""
    before = _files(scene)
    scene.until(lambda: _files(scene) != before, fault.seconds)


def _files(scene: Scene) -> int:
    return sum(1 for _ in scene.trips.data.rglob("*"))


def _excused(fault: Fault) -> set[str]:
    return EXCUSED_BY[fault.point.rpartition(" ")[2]]


def _driver(attempt: Attempt) -> list[psutil.Process]:
    return still_there([attempt.run.process.pid])


def _freeze(scene: Scene, fault: Fault, processes: list[psutil.Process]) -> bool:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()
    scene.last(fault.seconds)
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()
    return bool(processes)


def _kill(*processes: psutil.Process) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
