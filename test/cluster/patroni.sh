#!/usr/bin/env bash
# Three PostgreSQL servers under Patroni with etcd, and HAProxy in front of the leader, on loopback:
#   test/cluster/patroni.sh FOLDER start    prints the URL when it is ready, and runs until it is killed
#   test/cluster/patroni.sh FOLDER COMMAND  while it runs; the commands are the functions from `primary` on
# Needs root, PostgreSQL 15 and Debian's packages patroni, etcd-server, haproxy and curl.
set -euo pipefail
unpack=$(realpath "$(dirname "$0")/../unpack.sh")
mkdir -p "$1" && cd "$1"
folder=$PWD
# Patroni comes from the unstable branch, because 3.0.2 of Debian 12 may lose plants, but uses Debian 12's packages for Python.
export PYTHONPATH=$folder/unpacked/usr/lib/python3/dist-packages

start() {
  for n in 1 2 3; do
    if pg_isready --quiet --host=127.0.0.1 --port=1700$n; then echo "another server uses port 1700$n" >&2 && exit 1; fi
  done
  trap '{ trap "" TERM INT; kill -KILL $(jobs -p); pkill -KILL --uid postgres --full "$folder/"; wait; } 2>/dev/null || true' EXIT
  trap 'exit' TERM INT
  "$unpack" "$folder" download patroni
  chown postgres .
  etcd --data-dir=etcd --listen-client-urls=http://127.0.0.1:17079 --advertise-client-urls=http://127.0.0.1:17079 \
    --listen-peer-urls=http://127.0.0.1:17080 --initial-advertise-peer-urls=http://127.0.0.1:17080 \
    --initial-cluster=default=http://127.0.0.1:17080 >etcd.log 2>&1 &
  local etcd=$!
  # HAProxy treats a server as up until its first check, so it starts before the servers.
  cat >haproxy.cfg <<CONFIG
defaults
  mode tcp
  timeout connect 2s
  timeout client 5m
  timeout server 5m
listen primary
  bind 127.0.0.1:17000
  option httpchk OPTIONS /primary
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
$(for n in 1 2 3; do echo "  server postgres-$n 127.0.0.1:1700$n check port 1701$n"; done)
CONFIG
  haproxy -db -f haproxy.cfg >haproxy.log 2>&1 &
  for n in 1 2 3; do
    configure $n >$n.yml
    join $n
    until primary >/dev/null; do kill -0 $etcd && sleep 0.2 || { tail -n 3 etcd.log >&2 && return 1; }; done
  done
  until whole; do sleep 0.2; done
  until psql --host=127.0.0.1 --port=17000 --username=postgres --command='SELECT 1' >/dev/null 2>&1; do sleep 0.2; done
  echo postgres://postgres@127.0.0.1:17000/postgres
  # Other shells restart servers.
  sleep infinity &
  wait $!
}

# Patroni's settings, with the smallest ttl. A primary waits for a standby, even if there is none.
configure() {
  cat <<SETTINGS
scope: plants
name: postgres-$1
restapi: { listen: 127.0.0.1:1701$1, connect_address: 127.0.0.1:1701$1 }
etcd3: { host: 127.0.0.1:17079 }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 3
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql: { use_pg_rewind: true }
  initdb: [encoding: UTF8]
postgresql:
  listen: 127.0.0.1:1700$1
  connect_address: 127.0.0.1:1700$1
  data_dir: $folder/data-$1
  bin_dir: $(pg_config --bindir)
  pgpass: $folder/$1.pgpass
  authentication: { superuser: { username: postgres }, replication: { username: replicator } }
  pg_hba: [local all all trust, host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
  parameters: { unix_socket_directories: $folder }
watchdog: { mode: 'off' }
SETTINGS
}

# Prints the number of the primary.
primary() {
  for n in 1 2 3; do has_role $n primary && echo $n && return; done
  false
}

# Succeeds if the primary has a synchronous and an asynchronous standby, and each responds.
whole() {
  local roles
  for n in 1 2 3; do pg_isready --quiet --host=127.0.0.1 --port=1700$n || return; done
  roles=$(for role in async primary sync; do for n in 1 2 3; do if has_role $n $role; then echo $role; fi; done; done)
  [ "$(xargs <<<"$roles")" = 'async primary sync' ]
}

has_role() { curl --silent --fail --max-time 1 "http://127.0.0.1:1701$1/$2" >/dev/null; }

# Starts a server that was killed, with its Patroni: join 1
join() {
  setpriv --reuid=postgres --regid=postgres --init-groups unpacked/usr/bin/patroni "$folder/$1.yml" </dev/null >>"$1.log" 2>&1 &
}

# Sends a signal to a server and its Patroni: signal KILL 1
signal() {
  kill "-$1" $(pgrep --full "patroni $folder/$2.yml") || true
  signal_database "$1" "$2"
}

# Sends a signal to a server alone.
signal_database() {
  local server
  server=$(head -1 "data-$2/postmaster.pid")
  kill "-$1" "$server" $(pgrep --parent "$server") || true
}

# Makes the synchronous standby the primary.
switchover() {
  unpacked/usr/bin/patronictl -c 1.yml switchover --primary "postgres-$(primary)" --force
}

"${@:2}"
