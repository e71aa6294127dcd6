"""Strikes: each kind of fault of the schedule with what does it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.soak import kafka_faults, process_faults, table_faults
from tests.soak.scene import Scene, Strike
from tests.soak.schedule import Fault

STRIKES: Mapping[str, Strike] = {
    "run killed": process_faults.kill_run,
    "JVM killed": process_faults.kill_jvm,
    "driver killed": process_faults.kill_driver,
    "JVM frozen": process_faults.freeze_jvm,
    "driver frozen": process_faults.freeze_driver,
    "failpoint": process_faults.arm,
    "failpoint in the commit": process_faults.arm_commit,
    "two runs at once": process_faults.double,
    "rewind": table_faults.rewind,
    "rewind killed": table_faults.kill_rewind,
    "table restored": table_faults.restore,
    "read again": table_faults.read_again,
    "table optimized": table_faults.optimize,
    "table put back": table_faults.put_back,
    "table dropped": table_faults.drop,
    "vacuum before receipts": table_faults.optimize_before_receipts,
    "broker killed": kafka_faults.kill_broker,
    "broker frozen": kafka_faults.freeze_broker,
    "transaction left open": kafka_faults.leave_open,
}


def strike(scene: Scene, fault: Fault) -> None:
    """Let a fault happen, to its end; counted when it had something to strike at."""
    scene.diary.write(f"fault: {fault}")
    took = STRIKES[fault.kind](scene, fault)
    (scene.diary.injected if took else scene.diary.missed)[fault.kind] += 1
    scene.diary.write(f"fault over: {fault}{'' if took else ', nothing to strike at'}")
