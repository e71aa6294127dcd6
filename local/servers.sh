#!/usr/bin/env bash
# The servers that the tests of the production shape need beside the broker, Airflow and Spark,
# built once from their sources into build/bin, or fetched (the schema registry, in Java):
# local/servers.sh [NAME...].
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
    *) fail "no such server" "$1" "versitygw, toxiproxy, docker-compose or apicurio" "correct the name" ;;
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

APICURIO=3.0.9
APICURIO_SHA256=2b28181501a20cbf6efcd77f9b7153908fc01f3d3a7c32024c0bd9e1b04c8a43

# Apicurio Registry, which has Confluent's interface, with the Ivy that ships inside pyspark.
fetch_apicurio() {
  local scratch=build/servers/apicurio archive java=java
  archive=$scratch/apicurio-registry-app-$APICURIO.tar.gz
  if [[ -n ${JAVA_HOME:-} ]]; then java=$JAVA_HOME/bin/java; fi
  printf '\033[1m==>\033[0m Apicurio Registry %s (109 MB)\n' "$APICURIO"
  rm -rf "$scratch" && mkdir -p "$scratch/unpacked" "$BIN"
  cat >"$scratch/ivy.xml" <<END
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="sluice" module="servers"/>
  <dependencies>
    <dependency org="io.apicurio" name="apicurio-registry-app" rev="$APICURIO" transitive="false">
      <artifact name="apicurio-registry-app" type="tar.gz" ext="tar.gz" m:classifier="all"/>
    </dependency>
  </dependencies>
</ivy-module>
END
  # Without the POM: its parents are not published everywhere, and nothing of them is needed.
  cat >"$scratch/settings.xml" <<END
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
END
  "$java" -jar .venv/lib/python3.11/site-packages/pyspark/jars/ivy-*.jar \
    -settings "${IVY_SETTINGS:-$scratch/settings.xml}" -ivy "$scratch/ivy.xml" -types tar.gz -cache build/ivy \
    -retrieve "$scratch/[artifact]-[revision].[ext]" >build/servers/apicurio.log 2>&1 || {
    tail -20 build/servers/apicurio.log >&2
    fail "apicurio could not be fetched" "see above, and build/servers/apicurio.log" \
      "io.apicurio:apicurio-registry-app:$APICURIO" \
      "repair the network and repeat; IVY_SETTINGS=FILE names a mirror"
  }
  sha256sum --check --quiet <<<"$APICURIO_SHA256  $archive" >&2 ||
    fail "apicurio is not what was pinned" "another checksum" "$APICURIO_SHA256" \
      "do not trust where it came from"
  tar -xzf "$archive" -C "$scratch/unpacked"
  rm "$archive"
  # From where it lies, so that build/ can be copied.
  cat >"$BIN/apicurio" <<END
#!/bin/sh
exec "\${JAVA_HOME:+\$JAVA_HOME/bin/}java" "\$@" -jar \
  "\$(dirname "\$0")/../servers/apicurio/unpacked/apicurio-registry-app-$APICURIO-runner.jar"
END
  chmod +x "$BIN/apicurio"
  echo "$APICURIO" >"$BIN/.apicurio"
}

main() {
  local name module
  for name; do
    if [[ $name == apicurio ]]; then
      [[ $(cat "$BIN/.apicurio" 2>/dev/null) == "$APICURIO" ]] || fetch_apicurio
      continue
    fi
    module=$(module_of "$name")
    if [[ -x $BIN/$name && $(cat "$BIN/.$name" 2>/dev/null) == "$module" ]]; then continue; fi
    command -v go >/dev/null || fail "Go is missing" "no 'go' on PATH" "Go 1.24 or newer" \
      "install Go: $name is built from its sources"
    build "$name" "$module"
  done
}

main "$@"
