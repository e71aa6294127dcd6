#!/usr/bin/env bash
# The bill of materials: build/sbom.json and docs/licences.md, written by local/sbom.py in an
# environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(cat build/sbom/.lock 2>/dev/null) != $(cksum <requirements-sbom.txt) ]]; then
  .venv/bin/uv venv --quiet --clear --python .venv/bin/python build/sbom
  .venv/bin/uv pip install --quiet --python build/sbom/bin/python --require-hashes -r requirements-sbom.txt
  cksum <requirements-sbom.txt >build/sbom/.lock
fi
.venv/bin/python -m local.jar_checksums resolve
PYTHONPATH=jobs build/sbom/bin/python -m local.sbom
