#!/bin/sh
# Makes a role and a database of its own for each control plane that has a password in ROLES, and goes on doing so for
# those that come later; a role that is there gets the password of its file. The server is named by libpq's variables.
set -u
roles=${ROLES:-/run/secrets/roles}
made=' '

PGPASSWORD=$(cat "${PASSWORD_FILE:-/run/secrets/superuser}") && export PGPASSWORD || exit 1

make() { # make ROLE FILE
  FILE=$2 psql -X -q -v ON_ERROR_STOP=1 -v name="$1" -d postgres <<'SQL'
\set password `cat "$FILE"`
SELECT format('CREATE ROLE %I LOGIN', :'name') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
SELECT format('ALTER ROLE %I PASSWORD %L', :'name', :'password') \gexec
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'name') WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', :'name') \gexec
SQL
}

while :; do
  left=0
  for file in "$roles"/*; do
    role=causeway_$(basename "$file")
    case $made in *" $role "*) continue ;; esac
    if make "$role" "$file"; then made="$made$role "; else left=1; fi
  done
  [ "$left" != 0 ] || touch "${DONE:-/tmp/done}"
  [ "${ONCE:-}" != yes ] || exit "$left"
  sleep 5 & wait $!
done
