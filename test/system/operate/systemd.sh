#!/bin/sh
# Boots systemd without the units of this machine, and runs until its process 1 is killed:
#   unshare --cgroup --mount test/system/operate/systemd.sh REPOSITORY NODE
# Its namespaces are its own, except that of the network. So is its file system, a copy in memory, where the repository is
# installed as `npm install` would. Prints the id of process 1 outside.
set -eu

if [ "$1" != inside ]; then
  # Inside a group of its own, because systemd moves the processes of its top group. Removes the group afterwards.
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  group=/sys/fs/cgroup/plant-store-test-$$
  mkdir "$group"
  sh -c 'echo $$ >"$0/cgroup.procs"; exec unshare --cgroup --ipc --mount --pid --uts --fork --kill-child "$@"' \
    "$group" "$0" inside "$@" || true
  exec find "$group" -depth -type d -exec rmdir {} +
fi
repository=$2 node=$3
read -r process_1 _ </proc/self/stat

# What is written to the copy stays in memory.
mount -t tmpfs tmpfs /run
mkdir /run/changes /run/work /run/copy
mount -t overlay -o lowerdir=/,upperdir=/run/changes,workdir=/run/work overlay /run/copy
cd /run/copy
mount -t tmpfs -o mode=755 tmpfs run
# Devices, except the console and the kernel's log.
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
ln -s pts/ptmx dev/ptmx
# Read-only, so that systemd changes no setting of the kernel, and does not look for hardware.
mount -t proc proc proc
mount --bind -o ro proc/sys proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup

release=opt/plant-store/20260101-000000
mkdir -p $release/node_modules/.bin $release/node_modules/plant-store
mount --bind -o ro "$repository" $release/node_modules/plant-store
touch $release/node
mount --bind "$node" $release/node
cat >$release/node_modules/.bin/plant-store <<PROGRAM
#!/bin/sh
exec /$release/node /$release/node_modules/plant-store/dist/composition/cli/main.js "\$@"
PROGRAM
chmod 755 $release/node_modules/.bin/plant-store
ln -sfn /$release opt/plant-store/current

mount -t tmpfs -o mode=755 tmpfs etc/systemd/system
mkdir run/units run/old
for target in basic network-online shutdown sysinit; do echo '[Unit]' >run/units/$target.target; done
printf '[Unit]\nRequires=dbus.socket systemd-journald.service\n' >run/units/test.target
for unit in dbus.service dbus.socket systemd-journald.service systemd-journald.socket; do
  ln -s /usr/lib/systemd/system/$unit run/units
done

pivot_root . run/old
umount --lazy /run/old
echo "process 1: $process_1"
exec env -i container=test PATH=/usr/local/bin:/usr/bin:/usr/sbin SYSTEMD_LOG_TARGET=journal \
  SYSTEMD_UNIT_PATH=/etc/systemd/system:/run/units /usr/lib/systemd/systemd --unit=test.target --show-status=no
