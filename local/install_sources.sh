#!/usr/bin/env bash
# The sources in jobs/ as a package of .venv, and the command `sluice`; without a build tool, which
# would have to be downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "$PWD/jobs" >.venv/lib/python3.11/site-packages/sluice.pth
cat >.venv/bin/sluice <<SCRIPT
#!$PWD/.venv/bin/python
import sys
from sluice.cli import main
sys.exit(main())
SCRIPT
chmod 755 .venv/bin/sluice
