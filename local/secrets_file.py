"""The secrets of docker-compose.yml: random ones, in `.env`, which only its owner can read.

    python -m local.secrets_file

What the file says already is never changed, as the volumes' data know it; names that a newer
version asks for are added.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / ".env"


def key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def cluster_id() -> str:
    """16 bytes as Kafka writes them; the first is not a dash, which tools take for an option."""
    return base64.urlsafe_b64encode(b"S" + secrets.token_bytes(15)).decode().rstrip("=")


MAKERS: Mapping[str, Callable[[], str]] = {
    "AIRFLOW_PASSWORD": lambda: secrets.token_urlsafe(12),
    "AIRFLOW_FERNET_KEY": key,
    "AIRFLOW_JWT_SECRET": lambda: secrets.token_urlsafe(48),
    "AIRFLOW_SECRET_KEY": lambda: secrets.token_urlsafe(32),
    "POSTGRES_PASSWORD": lambda: secrets.token_urlsafe(24),
    "KAFKA_CLUSTER_ID": cluster_id,
    "SPARK_TOKEN": lambda: secrets.token_urlsafe(32),
    "SPARK_SECRET": lambda: secrets.token_urlsafe(32),
    "S3_ACCESS_KEY": lambda: secrets.token_hex(10),
    "S3_SECRET_KEY": lambda: secrets.token_urlsafe(30),
}


def write(file: Path) -> list[str]:
    """Add what is missing in the file, which is created if need be; the names that were added."""
    file.touch(mode=0o600)
    file.chmod(0o600)
    text = file.read_text("utf-8")
    known = {line.partition("=")[0] for line in text.splitlines()}
    missing = [name for name in MAKERS if name not in known]
    if text and not text.endswith("\n"):
        text += "\n"
    added = "".join(f"{name}={MAKERS[name]()}\n" for name in missing)
    draft = file.with_name(f"{file.name}.new")
    draft.touch(mode=0o600)
    draft.write_text(text + added, "utf-8")
    draft.replace(file)
    return missing


if __name__ == "__main__":
    added = write(FILE)
    if not added:
        print(f"{FILE.name}: kept as it is: nothing is missing")
    elif len(added) < len(MAKERS):
        print(f"{FILE.name}: added {', '.join(added)}")
    else:
        print(
            f"{FILE.name}: written, with new secrets. Volumes of an earlier .env do not know them:"
            ' docs/deployment.md, "Lost parts".'
        )
