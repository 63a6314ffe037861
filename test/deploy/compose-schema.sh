#!/bin/sh
# Prints the path of the schema of compose files: that of compose-go, which docker compose reads files with, as Go's module proxy has it.
# COMPOSE_SCHEMA is printed instead where it is set. Needs go.
set -eu
if [ -n "${COMPOSE_SCHEMA:-}" ]; then
  echo "$COMPOSE_SCHEMA"
  exit
fi
cd "${TMPDIR:-/tmp}"
folder=$(GOFLAGS=-mod=mod go mod download -json github.com/compose-spec/compose-go/v2@v2.16.2 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
test -f "$folder/schema/compose-spec.json"
echo "$folder/schema/compose-spec.json"
