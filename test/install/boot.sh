#!/bin/sh
# Boots a Debian tree as a machine of its own: systemd is process 1 of new namespaces, and what it writes goes to a layer above the
# tree. The network is loopback and one interface, lan0, that leads nowhere. Ends with the process that unshare was started as.
#
#   unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child sh boot.sh TREE LAYER ADDRESS [FILE]
#
# TREE may be several, with colons, the uppermost first. LAYER is an empty folder; FILE is put into /root.
set -eu
tree=$1 layer=$2 address=$3 file=${4:-}
mount --make-rprivate /
# In memory: packages are unpacked with a write to the disk for each file.
mount -t tmpfs tmpfs "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=$tree,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
[ -z "$file" ] || cp "$file" "$layer/root/root"
cd "$layer/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for each in null zero full random urandom tty; do
  : >"dev/$each"
  mount --bind "/dev/$each" "dev/$each"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
: >etc/machine-id
echo machine >etc/hostname
ip link set lo up
ip link add lan0 type veth peer name wire0
ip address add "$address" dev lan0
ip link set lan0 up && ip link set wire0 up
mkdir outside
pivot_root . outside
# Shared, as a machine has it: services get their credentials by a mount.
exec chroot . /bin/sh -c 'umount -l /outside && rmdir /outside && mount --make-rshared / && exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd'
