#!/bin/sh
# Unpacks systemd-resolved and its library from Debian's packages outside the repository, where that is not done yet, and
# prints the folder; a machine that has it is its own. Installing the package instead would take over the machine's
# /etc/resolv.conf.
set -eu
if [ -x /lib/systemd/systemd-resolved ]; then
  echo /
  exit
fi
root=${SYSTEMD_RESOLVED:-${TMPDIR:-/tmp}/causeway-systemd-resolved}
runs() {
  LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu/systemd:$root/usr/lib/aarch64-linux-gnu/systemd" \
    "$root/lib/systemd/systemd-resolved" --version >&2
}
if ! runs 2>/dev/null; then
  rm -rf "$root"
  mkdir -p "$root"
  cd "$root"
  apt-get -qq download systemd-resolved libsystemd-shared >&2
  for package in *.deb; do dpkg -x "$package" .; done
  runs
fi
echo "$root"
