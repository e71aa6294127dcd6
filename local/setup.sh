#!/usr/bin/env bash
# Setup: everything the project needs, in .venv/ and build/, once. `make` calls it before each target.
# `local/setup.sh s3` also fetches what a warehouse on S3 needs; `… jars` does nothing but the jars,
# all of them (the image's build).
# It does only what its inputs require, and continues where an earlier call was interrupted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV_STAMP=.venv/.setup-stamp
VENV_UNFINISHED=.venv/.setup-unfinished
SPARK_JARS=.venv/lib/python3.11/site-packages/pyspark/jars
# Where `sluice jars` puts them, and where the package has its own.
JARS=.venv/share/sluice/jars
OWN=jobs/sluice/lake/jars
JARS_STAMP=$JARS/.setup-stamp
S3_STAMP=$JARS/.s3-stamp
ARCHIVE_STAMP=$JARS/.classes-stamp

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }

fail() { # fail WHAT FOUND EXPECTED NEXT
  printf '\nsetup: %s\n  found:    %s\n  expected: %s\n  do this:  %s\n\n' "$@" >&2
  exit 1
}

fingerprint() { cat "$@" | cksum; }

current() { # current STAMP FINGERPRINT: whether the last finished setup had the same inputs
  [[ -f $1 && $(<"$1") == "$2" ]]
}

java_command() {
  if [[ -n ${JAVA_HOME:-} ]]; then echo "$JAVA_HOME/bin/java"; else command -v java || true; fi
}

check_java() {
  local java found major
  java=$(java_command)
  [[ -x $java ]] || fail "Java is missing" "${java:-no 'java' on PATH, and JAVA_HOME is not set}" \
    "Java 17 or 21" "install a JDK, or set JAVA_HOME to one"
  found=$("$java" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/\1/p' | head -1)
  major=${found%%[.-]*}
  [[ $major =~ ^[0-9]+$ ]] || fail "Java does not run" "$java: $("$java" -version 2>&1 | head -1)" \
    "Java 17 or 21" "install a JDK, or set JAVA_HOME to one"
  ((major >= 17)) || fail "Java is too old" "Java $found ($java)" \
    "Java 17 or 21" "install a newer JDK, or set JAVA_HOME to one"
  # From 23 on the JVM refuses a call that Hadoop's client makes on every file access.
  ((major < 23)) || fail "Java is too new for Spark" "Java $found ($java)" \
    "Java 17 or 21" "install one of these beside it, and set JAVA_HOME to it"
  [[ $("$java" --list-modules) == *jdk.incubator.vector* ]] ||
    fail "this Java is a trimmed one" "Java $found ($java), without the module jdk.incubator.vector" \
      "a full JDK 17 or 21" "install a full JDK, or set JAVA_HOME to one"
  say "Java $found ($java)"
}

find_python() { # prints the interpreter; complains when there is none
  local candidate found seen=
  for candidate in ${PYTHON:-} python3.11 python3 python; do
    found=$("$candidate" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
    if [[ $found == 3.11.* ]]; then
      "$candidate" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "Python cannot make virtual environments" "$candidate $found without ensurepip" \
          "Python 3.11 with venv" "install your system's package for it (on Debian: python3.11-venv)"
      echo "$candidate"
      return
    fi
    seen="$seen${seen:+, }$candidate is $found"
  done
  fail "Python 3.11 is missing" "${seen:-no python3.11, python3 or python on PATH}" \
    "Python 3.11 (Airflow, Spark and the lock file agree on it)" \
    "install Python 3.11, or name it: make setup PYTHON=/path/to/python3.11"
}

# uv is several times faster than pip, but reads other settings: hand it those that pip has.
adopt_pip_settings() {
  local settings
  settings=$(.venv/bin/python -m pip config list 2>/dev/null || true)
  setting() { sed -n "s/^[^=]*\.$1='\(.*\)'\$/\1/p" <<<"$settings" | tail -1; }
  adopt() { # adopt UV_NAME PIP_NAME
    local value
    value=$(setting "$2")
    if [[ -n $value && -z ${!1:-} ]]; then export "$1=$value"; fi
  }
  adopt SSL_CERT_FILE cert
  adopt UV_DEFAULT_INDEX index-url
  adopt UV_INDEX extra-index-url
  adopt UV_FIND_LINKS find-links
  adopt UV_INSECURE_HOST trusted-host
  adopt UV_HTTP_TIMEOUT default-timeout
  adopt HTTPS_PROXY proxy
}

install_python_packages() {
  local python version
  version=$(sed -n 's/^uv==\([^ ]*\).*/\1/p' requirements-dev.txt)
  # A package whose unpacking was interrupted looks installed: then all are unpacked anew, from the cache.
  if [[ -f $VENV_UNFINISHED ]] ||
    ! .venv/bin/python -c 'import sys, pip; assert sys.version_info[:2] == (3, 11)' 2>/dev/null; then
    python=$(find_python)
    say "Virtual environment in .venv ($("$python" --version))"
    "$python" -m venv --clear .venv
  fi
  adopt_pip_settings
  if [[ $(.venv/bin/uv --version 2>/dev/null) != "uv $version"* ]]; then
    say "Installer: uv $version"
    sed -n '/^uv==/,/^ *# via/p' requirements-dev.txt >build/uv.txt
    .venv/bin/python -m pip install --quiet --require-hashes -r build/uv.txt
  fi
  say "Python packages: $(grep -c '^[a-z0-9].*==' requirements.txt) of the lock, and those of development (about 1 GB unpacked)"
  touch "$VENV_UNFINISHED"
  # The locks hold a hash of each file: another one is refused. Shown are the steps, and on a
  # terminal progress bars, but not the list of what was installed.
  .venv/bin/uv pip install --python .venv/bin/python \
    --require-hashes -r requirements.txt -r requirements-dev.txt \
    2> >(sed -u '/^ [+~-] /d' >&2)
  .venv/bin/uv pip install --python .venv/bin/python --quiet --no-deps -e .
  rm "$VENV_UNFINISHED"
  say "Bytecode, without which each of Airflow's processes would take seconds longer to start"
  .venv/bin/python -m compileall -q -j 0 .venv/lib/python3.11/site-packages jobs \
    >/dev/null || true
}

# The Scala compiler is among Spark's jars, so that no JDK is needed.
install_classes() { # install_classes JAR CLASSPATH SOURCES…
  say "Sluice's own classes of jobs/jvm into $1"
  "$(java_command)" -cp "$SPARK_JARS/*" scala.tools.nsc.Main -deprecation -Xlint -Werror \
    -usejavacp -classpath "$2" -d "$1" "${@:3}"
}

# The command of these sources, which the image installs later, as a wheel.
own_sluice() {
  PYTHONPATH=jobs .venv/bin/python -c 'from sluice.cli import main; main()' "$@"
}

# `sluice jars` fetches; called again, it puts our own jar beside the others.
jars_of_spark() {
  say "Jars for Spark"
  own_sluice jars --to "$JARS"
  install_classes $OWN/sluice.jar "$JARS/spark/*" jobs/jvm/*/*.scala
  own_sluice jars --to "$JARS"
}

jars_of_broker() {
  say "Jars of the embedded broker into build/jars/broker"
  .venv/bin/python -m local.embedded.broker_jars
}

jars_of_s3() {
  say "Jars for a warehouse on S3"
  own_sluice jars --to "$JARS" --s3
  install_classes $OWN/sluice-s3.jar "$JARS/s3/*:$JARS/spark/*" jobs/jvm/*/s3/*.scala
  own_sluice jars --to "$JARS" --s3
}

# Without it all works, and starts more slowly.
install_class_archive() {
  say "Archive of Spark's classes, with which its JVM starts faster, (about a minute)"
  if .venv/bin/python -m local.class_archive; then
    echo "$1" >"$ARCHIVE_STAMP"
  else
    say "Spark will start without it"
  fi
}

main() {
  mkdir -p build
  local venv_inputs jars_inputs archive_inputs s3_inputs
  venv_inputs="$(fingerprint requirements.txt requirements-dev.txt pyproject.toml local/setup.sh) in $PWD"
  jars_inputs="$(fingerprint jobs/sluice/lake/jars/{ivy.xml,jars.sha256} local/embedded/{ivy.xml,jars.sha256} jobs/jvm/*/*.scala requirements.txt local/setup.sh) with $(java_command)"
  s3_inputs="$jars_inputs $(fingerprint jobs/jvm/*/s3/*.scala)"
  archive_inputs="$venv_inputs $jars_inputs $("$(java_command)" -version 2>&1 | cksum || true)"
  if ! current "$JARS_STAMP" "$jars_inputs" || ! current "$ARCHIVE_STAMP" "$archive_inputs"; then
    check_java
  fi
  if ! current "$VENV_STAMP" "$venv_inputs"; then
    install_python_packages
    echo "$venv_inputs" >"$VENV_STAMP"
  fi
  if ! current "$JARS_STAMP" "$jars_inputs"; then
    jars_of_spark
    jars_of_broker
    echo "$jars_inputs" >"$JARS_STAMP"
  fi
  if ! current "$ARCHIVE_STAMP" "$archive_inputs"; then
    install_class_archive "$archive_inputs"
    say "Setup is complete"
  fi
  if [[ ${1:-} == s3 ]] && ! current "$S3_STAMP" "$s3_inputs"; then
    jars_of_s3
    echo "$s3_inputs" >"$S3_STAMP"
  fi
}

if [[ ${1:-} == jars ]]; then
  jars_of_spark
  jars_of_s3
else
  main "$@"
fi
