#!/bin/sh
# Installs the .deb and then the .rpm in a layer above a bare Debian tree, and removes each again, with its scripts; systemd does not run
# there. Prints what is there after each step. rpm is the one of this machine: it installs into the tree by `--root`.
#
#   unshare --mount sh packages.sh TREE LAYER DEB RPM
set -eu
tree=$1 layer=$2 deb=$3 rpm=$4
mount --make-rprivate /
mount -t tmpfs tmpfs "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
root=$layer/root
mount -t overlay overlay -o "lowerdir=$tree,upperdir=$layer/upper,workdir=$layer/work" "$root"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }
what_is_there() {
  echo "--- $1"
  for user in causeway-global causeway-zone; do inside id "$user" >/dev/null 2>&1 && echo "user $user"; done
  for path in usr/bin/causeway usr/lib/systemd/system/causeway-zone.service usr/share/man/man1/causeway.1.gz \
    usr/share/causeway/prometheus/alerts.yaml usr/share/causeway/grafana/overview.json \
    usr/share/bash-completion/completions/causeway; do
    [ ! -e "$root/$path" ] || echo "file $path $(stat -L -c '%U:%G %a' "$root/$path")"
  done
  inside find /etc/causeway -mindepth 1 -printf '%p %u:%g %m\n' 2>/dev/null | sort || true
}

# Secrets that were there before: the scripts give them to the group of the program.
mkdir -p "$root/etc/causeway/zone.secrets"
chmod 700 "$root/etc/causeway/zone.secrets"
echo secret >"$root/etc/causeway/zone.secrets/zone-token"
chmod 600 "$root/etc/causeway/zone.secrets/zone-token"

cp "$deb" "$root/root/causeway.deb"
# Node is not in the tree.
inside dpkg --force-depends -i /root/causeway.deb >/dev/null 2>&1
what_is_there 'the .deb is installed'
inside dpkg -r causeway >/dev/null 2>&1
what_is_there 'the .deb is removed'
# The users stay, as Debian has it; the .rpm makes its own.
sed -i '/^causeway-/d' "$root/etc/passwd" "$root/etc/shadow" "$root/etc/group" "$root/etc/gshadow"
chmod 600 "$root/etc/causeway/zone.secrets/zone-token"
rpm --root "$root" --nodeps --ignoreos -i "$rpm"
what_is_there 'the .rpm is installed'
rpm --root "$root" --nodeps -V causeway && echo 'rpm -V: as it was built'
rpm --root "$root" --nodeps -e causeway
what_is_there 'the .rpm is removed'
