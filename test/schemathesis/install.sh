#!/bin/sh
# Installs schemathesis (from PyPI, one pinned version) into a virtual environment outside the repository, where it is
# not there yet, and prints the path of its program. Needs python3 with venv.
set -eu
version=4.32.5
venv=${SCHEMATHESIS_VENV:-${TMPDIR:-/tmp}/causeway-schemathesis-$version}
if ! "$venv/bin/st" --version >/dev/null 2>&1; then
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version" >&2
fi
echo "$venv/bin/st"
