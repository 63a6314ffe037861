#!/bin/sh
# Runs schemathesis against the served OpenAPI document, with every kind, where `npm run test:long` takes one control plane and one kind of twelve by its seed,
# and for longer: SCHEMATHESIS_EXAMPLES says how many generated requests an operation gets (100), SCHEMATHESIS_SEED where
# they begin (CAUSEWAY_FUZZ_SEED else, and else a fresh seed).
set -eu
cd "$(dirname "$0")/../.."
SCHEMATHESIS=$(sh test/schemathesis/install.sh)
export SCHEMATHESIS SCHEMATHESIS_KINDS=all SCHEMATHESIS_EXAMPLES="${SCHEMATHESIS_EXAMPLES:-100}"
exec npx jest test/schemathesis/schemathesis.long --maxWorkers=1
