"""Faults of Kafka: the broker dies or hangs, a transaction stays open."""

from __future__ import annotations

import contextlib

from confluent_kafka import KafkaException

from local.embedded.broker import BrokerError
from local.embedded.guard import is_java, still_there
from tests.soak.parcels import Parcel
from tests.soak.producers import left_open
from tests.soak.scene import Scene
from tests.soak.schedule import Fault

NO_ANSWER = ("BrokerUnavailable", "SparkFailed")
STARTS = 3


def kill_broker(scene: Scene, fault: Fault) -> bool:
    with contextlib.ExitStack() as held:
        if not scene.at_the_broker.acquire(blocking=False):
            return False
        held.callback(scene.at_the_broker.release)
        held.enter_context(scene.diary.in_force(*NO_ANSWER))
        scene.broker.kill()
        scene.last(fault.seconds)
        start_broker(scene)
    return True


def start_broker(scene: Scene) -> None:
    """Start it again. On a busy machine that may take more than one attempt."""
    for attempt in range(1, STARTS + 1):
        try:
            scene.broker.start()
        except BrokerError as problem:
            scene.diary.write(f"broker: {problem}")
            if attempt == STARTS:
                raise
        else:
            return


def freeze_broker(scene: Scene, fault: Fault) -> bool:
    with contextlib.ExitStack() as held:
        if not scene.at_the_broker.acquire(blocking=False):
            return False
        held.callback(scene.at_the_broker.release)
        held.enter_context(scene.diary.in_force(*NO_ANSWER))
        frozen = [process for process in still_there(scene.broker.pids) if is_java(process)]
        for process in frozen:
            process.suspend()
        scene.last(fault.seconds)
        for process in frozen:
            process.resume()
    return True


def leave_open(scene: Scene, fault: Fault) -> bool:
    """Nothing behind it can be read until it ends."""
    ending = "commit" if fault.share < 0.5 else "abort"
    parcel = Parcel(fault.at, 10, int(fault.share * 2**40), ending)
    try:
        left_open(scene.target, parcel, scene.healing, fault.seconds)
    except KafkaException as problem:
        scene.diary.write(f"transaction left open: {problem}")
    return True
