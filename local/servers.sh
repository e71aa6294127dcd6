#!/usr/bin/env bash
# The servers that the tests of the production shape need beside the broker, Airflow and Spark,
# built once from their sources into build/bin: local/servers.sh [NAME...].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BIN=$PWD/build/bin

fail() { # fail WHAT FOUND EXPECTED NEXT
  printf '\nservers: %s\n  found:    %s\n  expected: %s\n  do this:  %s\n\n' "$@" >&2
  exit 1
}

module_of() { # the Go package of a server; the Go tool verifies its sums
  case $1 in
    versitygw) echo github.com/versity/versitygw/cmd/versitygw@v1.8.0 ;;
    toxiproxy) echo github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0 ;;
    docker-compose) echo github.com/docker/compose/v2/cmd@v2.40.3 ;;
    *) fail "no such server" "$1" "versitygw, toxiproxy or docker-compose" "correct the name" ;;
  esac
}

# Not `go install`: a module with replacements is refused there, and it would name the program `cmd`.
build() { # build NAME PACKAGE@VERSION
  local scratch=build/servers/$1 package=${2%@*}
  printf '\033[1m==>\033[0m %s, from its sources (some minutes)\n' "$2"
  mkdir -p "$scratch" "$BIN"
  (
    cd "$scratch"
    printf 'module scratch\n\ngo 1.24\n' >go.mod
    go get -tool "$2"
    go build -o "$BIN/$1.new" "$package"
  ) >"build/servers/$1.log" 2>&1 || {
    tail -20 "build/servers/$1.log" >&2
    fail "$1 could not be built" "see above, and build/servers/$1.log" "$2" \
      "repair the network, or GOPROXY, and repeat"
  }
  mv "$BIN/$1.new" "$BIN/$1"
  echo "$2" >"$BIN/.$1"
}

main() {
  local name module
  for name; do
    module=$(module_of "$name")
    if [[ -x $BIN/$name && $(cat "$BIN/.$name" 2>/dev/null) == "$module" ]]; then continue; fi
    command -v go >/dev/null || fail "Go is missing" "no 'go' on PATH" "Go 1.24 or newer" \
      "install Go: $name is built from its sources"
    build "$name" "$module"
  done
}

main "$@"
