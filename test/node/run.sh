#!/bin/sh
# Runs tests on another version of Node: `sh test/node/run.sh 24 [what Jest takes]`. The program comes from npm, the newest of that line, into
# a folder outside the repository. Without more it runs all of npm test.
set -eu
[ $# -ge 1 ] || { echo "usage: sh test/node/run.sh VERSION [what Jest takes], such as 22, 24 or 24.20.0" >&2; exit 2; }
version=$1
shift
case $(uname -m) in x86_64) cpu=x64 ;; *) cpu=arm64 ;; esac
folder=${TMPDIR:-/tmp}/causeway-node-$version
program=$folder/node_modules/node-linux-$cpu/bin
if ! "$program/node" --version >/dev/null 2>&1; then
  mkdir -p "$folder"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error "node-linux-$cpu@$version" >&2
fi
PATH=$program:$PATH
export PATH
echo "on Node $(node --version)"
cd "$(dirname "$0")/../.."
exec node scripts/test.mjs "$@"
