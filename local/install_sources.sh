#!/usr/bin/env bash
# The sources in jobs/ as a package of .venv, with its version, and the command `sluice`; without a
# build tool, which would have to be downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=.venv/lib/python3.11/site-packages
echo "$PWD/jobs" >$packages/sluice.pth
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
mkdir -p "$packages/sluice-$version.dist-info"
printf 'Metadata-Version: 2.1\nName: sluice\nVersion: %s\n' "$version" \
  >"$packages/sluice-$version.dist-info/METADATA"
# Airflow finds the plugin and the provider by these.
.venv/bin/python - >"$packages/sluice-$version.dist-info/entry_points.txt" <<'SCRIPT'
import tomllib

for group, names in tomllib.load(open("pyproject.toml", "rb"))["project"]["entry-points"].items():
    print(f"[{group}]", *(f"{name} = {place}" for name, place in names.items()), sep="\n")
SCRIPT
cat >.venv/bin/sluice <<SCRIPT
#!$PWD/.venv/bin/python
import sys
from sluice.cli import main
sys.exit(main())
SCRIPT
chmod 755 .venv/bin/sluice
