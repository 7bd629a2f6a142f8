#!/bin/sh
# Switches to a release of Plant Store, and restarts the instances in turn. If one does not become ready, switches back and
# fails. Install it as /usr/local/bin/plant-store-upgrade, and run it as root:
#   plant-store-upgrade /opt/plant-store/20260101-000000 0 1
set -eu
: "${2:?usage: plant-store-upgrade RELEASE INSTANCE...}"
release=$(realpath "$1")
realpath -e "$release/node_modules/.bin/plant-store" >/dev/null
shift
cd /opt/plant-store
previous=$(readlink current) || { echo 'There is no current release: see "Install" in the guide' >&2; exit 1; }

switch_to() {
  ln -sfn "$1" next
  mv -T next current
}
restart() {
  systemctl restart "plant-store@$1" && return
  echo "plant-store@$1 does not become ready with $(readlink current): see journalctl -u plant-store@$1 -n 30" >&2
  return 1
}

switch_to "$release"
restarted=
for instance; do
  restarted="$instance $restarted"
  restart "$instance" && continue
  switch_to "$previous"
  # The failed one first: if the schema is too new for the previous release, the others continue to run.
  for instance in $restarted; do
    restart "$instance" && continue
    echo "Of the instances $restarted, others may still run $release" >&2
    echo "If the log demands a newer version, restore the backup" >&2
    exit 1
  done
  echo "All instances run $previous again" >&2
  exit 1
done
