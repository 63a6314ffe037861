#!/bin/sh
# Runs schemathesis (from PyPI, in a virtual environment outside the repository) against the served OpenAPI document.
# Needs python3 with venv; SCHEMATHESIS_EXAMPLES says how many requests an operation gets (30).
set -eu
version=4.32.5
here=$(cd "$(dirname "$0")" && pwd)
venv=${SCHEMATHESIS_VENV:-${TMPDIR:-/tmp}/causeway-schemathesis-$version}
if [ ! -x "$venv/bin/st" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi
cd "$here/../.."
SCHEMATHESIS="$venv/bin/st" exec npx jest test/schemathesis --maxWorkers=1
