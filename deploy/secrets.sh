#!/bin/sh
# Makes what docker-compose.yml reads as files: a password of each database, of Redis, a token of an administrator, and a key that
# seals what a database holds. What is there already stays as it is: run it again with one more zone when you add one.
#
#   sh deploy/secrets.sh east west
#
# Keep the folder: nothing of it can be made a second time.
set -eu
umask 077
cd "$(dirname "$0")/.."
folder=${CAUSEWAY_SECRETS_FOLDER:-secrets}

for zone in "$@"; do
  echo "$zone" | grep -Eqx '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?' || { echo "causeway: no name of a zone: $zone" >&2; exit 2; }
done

random() { head -c 32 /dev/urandom | base64 | tr -d '\n'; }
escaped() { printf %s "$1" | sed 's/%/%25/g; s/+/%2B/g; s,/,%2F,g; s/=/%3D/g'; }

# The folder is its owner's alone; the files in it are mounted into containers whose users have other numbers.
keep() { # keep FILE, from standard input, unless it is there
  [ -s "$folder/$1" ] && return
  mkdir -p "$folder/$(dirname "$1")"
  cat >"$folder/$1.new"
  chmod 444 "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

control_plane() { # control_plane NAME
  random | keep "postgres/roles/$1"
  echo "postgres://causeway_$1:$(escaped "$(cat "$folder/postgres/roles/$1")")@postgres:5432/causeway_$1" | keep "$1/database-url"
  echo "redis://:$(escaped "$(cat "$folder/redis/password")")@redis:6379" | keep "$1/redis-url"
  echo "k1:$(random)" | keep "$1/secrets-key"
  keep "$1/operator-token" <"$folder/credentials/operator-token"
}

random | keep postgres/superuser
random | keep redis/password
printf 'requirepass "%s"\nsave ""\nappendonly no\n' "$(cat "$folder/redis/password")" | keep redis/redis.conf
random | keep credentials/operator-token
control_plane global
for zone in "$@"; do
  control_plane "$zone"
  grep -qxF "$zone" "$folder/credentials/zones" 2>/dev/null || echo "$zone" >>"$folder/credentials/zones"
done
[ ! -e "$folder/credentials/zones" ] || chmod 444 "$folder/credentials/zones"
find "$folder" -type d -exec chmod 755 {} +
chmod 700 "$folder"
