#!/bin/sh
# Runs a command as a container of the image does, without an engine: in a mount namespace whose root is ROOT, read-only but for
# /tmp, as user 1000 without capabilities and without a way to new ones. ROOT holds opt/causeway, folders to mount on and links into usr; what a container takes from its
# base image (/usr, with Node) comes from this machine. Needs root.
#
#   unshare --mount sh in-image.sh ROOT NODE_FOLDER COMMAND...
set -eu
root=$1 node=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount --rbind /usr "$root/usr" && mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc"
mount --bind /etc "$root/etc" && mount --bind "$node" "$root/node"
mount -o remount,ro,bind "$root/usr" && mount -o remount,ro,bind "$root/etc" && mount -o remount,ro,bind "$root/node"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -o remount,ro,bind "$root"
exec chroot "$root" /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set=-all --inh-caps=-all \
  --no-new-privs /usr/bin/env "PATH=/opt/causeway/bin:/node:/usr/bin:/bin" "$@"
