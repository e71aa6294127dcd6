#!/usr/bin/env bash
# The wheel, in dist/: the sources of jobs/, with the classes that `local/setup.sh` compiled. The same
# commit gives the same file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for jar in sluice.jar sluice-s3.jar; do
  [[ -f jobs/sluice/lake/jars/$jar ]] || {
    echo "jobs/sluice/lake/jars/$jar: expected our own classes, found no such file. Run: make s3" >&2
    exit 1
  }
done
# What an earlier build left would go into the wheel as well.
rm -rf build/lib build/bdist.* jobs/sluice.egg-info dist/sluice-*.whl
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
.venv/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
rm -rf build/lib build/bdist.* jobs/sluice.egg-info
ls -l dist/*.whl
