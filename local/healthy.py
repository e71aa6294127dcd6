"""The health of a service, for a container's check: exit code 0, or 1 and the reason.

    python healthy.py URL [COMPONENT]

COMPONENT is one of those that Airflow's own answer lists, such as `dag_processor`.
"""

from __future__ import annotations

import json
import sys
import urllib.request

TIMEOUT_SECONDS = 5


def problem(url: str, component: str | None) -> str | None:
    """Why the service is not healthy; None when it is."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as reply:
            text = reply.read()
    except OSError as error:
        return f"{url}: {error}"
    status = json.loads(text)[component]["status"] if component else "healthy"
    return None if status == "healthy" else f"{url}: {component}: {status}"


if __name__ == "__main__":
    sys.exit(problem(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
