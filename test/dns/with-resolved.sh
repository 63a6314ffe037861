#!/bin/sh
# Runs a command beside systemd-resolved, in a network and mount namespace of its own: with-resolved.sh ROOT CONF COMMAND...
# ROOT holds the daemon and its library as its Debian packages unpack (/ = those of the machine); CONF is a file for
# resolved.conf.d. Nothing of the machine is changed: what the daemon wants to write or read stands on mounts of its own.
set -eu
root=$1 conf=$2
shift 2

# resolved asks nobody on a machine that has only its loopback.
ip link add uplink type veth peer name beyond
ip addr add 10.9.9.8/24 dev uplink
ip link set uplink up
ip link set beyond up

mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/resolved.conf.d /run/systemd/resolve
cp "$conf" /run/systemd/resolved.conf.d/mesh.conf
# It becomes this user where root starts it, and a user namespace has only the one.
{ cat /etc/passwd; echo 'systemd-resolve:x:0:0::/:/bin/false'; } > /run/passwd
mount --bind /run/passwd /etc/passwd

libraries="$root/usr/lib/x86_64-linux-gnu/systemd:$root/usr/lib/aarch64-linux-gnu/systemd"
LD_LIBRARY_PATH="$libraries" "$root/lib/systemd/systemd-resolved" 2> /run/resolved.log &
daemon=$!
until dig +tries=1 +time=1 @127.0.0.53 localhost > /run/first 2>&1 || ! kill -0 $daemon 2> /run/gone; do sleep 0.1; done
status=0
"$@" || status=$?
kill $daemon
wait $daemon || true
[ "$status" = 0 ] || cat /run/resolved.log >&2
exit "$status"
