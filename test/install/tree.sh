#!/bin/sh
# Makes the tree of a bare Debian machine, where it is not there yet, and prints its folder: what debootstrap's minbase has, with
# systemd, iproute2 and certificates, as a virtual machine of a cloud has them. No program of the mesh, no Node, no Postgres.
#
#   sh tree.sh [SUITE [PACKAGE...]]
#
# With packages, the tree has them too; it is made from the bare one.
set -eu
suite=${1:-trixie}
folder=${CAUSEWAY_DEBIAN_TREES:-/var/tmp/causeway-debian}
tree=$folder/$suite
if [ ! -d "$tree" ]; then
  mkdir -p "$folder"
  rm -rf "$tree.new"
  debootstrap --variant=minbase "$suite" "$tree.new" >"$folder/$suite.log" 2>&1
  cp /etc/resolv.conf "$tree.new/etc/resolv.conf"
  DEBIAN_FRONTEND=noninteractive chroot "$tree.new" sh -c \
    'apt-get -qq update && apt-get -qq install -y --no-install-recommends systemd-sysv iproute2 ca-certificates' >>"$folder/$suite.log" 2>&1
  rm -rf "$tree.new"/var/lib/apt/lists/* "$tree.new"/var/cache/apt/archives/*.deb
  mv "$tree.new" "$tree"
fi
[ $# -gt 1 ] || { echo "$tree"; exit; }
shift
more=$folder/$suite+$(echo "$@" | tr ' ' +)
if [ ! -d "$more" ]; then
  rm -rf "$more.new"
  cp -a "$tree" "$more.new"
  DEBIAN_FRONTEND=noninteractive chroot "$more.new" sh -c \
    'apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"' sh "$@" >>"$folder/$suite.log" 2>&1
  rm -rf "$more.new"/var/lib/apt/lists/* "$more.new"/var/cache/apt/archives/*.deb
  mv "$more.new" "$more"
fi
echo "$more"
