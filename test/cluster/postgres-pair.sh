#!/usr/bin/env bash
# A PostgreSQL primary with a synchronous standby, on loopback. Clients use TLS and the host name db.example, which follows the primary
# like the failover endpoint of a managed database:
#   test/cluster/postgres-pair.sh FOLDER start           in a new FOLDER; prints the URL when it is ready, and runs until it is killed
#   test/cluster/postgres-pair.sh FOLDER client PROGRAM  runs a program that knows the host name
#   test/cluster/postgres-pair.sh FOLDER COMMAND         while it runs; the commands are the functions from `primary` on
# Needs root and PostgreSQL 15.
set -euo pipefail
mkdir -p "$1" && cd "$1"
folder=$PWD
name=db.example
port=17100

sql() { psql --host=127.0.1.$1 --port=$port --username=postgres --tuples-only --no-align --command="$2"; }

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$(pg_config --bindir)/$1" "${@:2}" </dev/null; }

start() {
  if pg_isready --quiet --host=127.0.1.1 --port=$port; then echo "another server uses port $port" >&2 && exit 1; fi
  trap '{ trap "" TERM INT; kill -KILL $(jobs -p); pkill -KILL --uid postgres --full "$folder/"; wait; } 2>/dev/null || true' EXIT
  trap 'exit' TERM INT
  openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=$name -addext subjectAltName=DNS:$name \
    -keyout key.pem -out ca.pem 2>openssl.log
  chown postgres . key.pem
  as_postgres initdb --no-sync --username=postgres --auth=trust "--pgdata=$folder/data-1" >initdb.log
  join 1
  move_name 1
  add_standby 2 1
  echo "postgres://postgres@$name:$port/postgres?sslmode=verify-full&sslrootcert=$folder/ca.pem"
  # Other shells restart servers.
  sleep infinity &
  wait $!
}

# Makes the host name resolve to a server: move_name 2
move_name() { echo "127.0.1.$1 $name" >hosts; }

# Starts a new standby of a primary, and waits until it is in sync: add_standby 2 1
add_standby() {
  as_postgres pg_basebackup "--dbname=postgres://postgres@127.0.1.$2:$port" --checkpoint=fast --no-sync --write-recovery-conf \
    "--pgdata=$folder/data-$1"
  join "$1"
  until whole; do sleep 0.1; done
}

client() { exec unshare --mount sh -c 'mount --bind "$0" /etc/hosts; exec "$@"' hosts "$@"; }

# Prints the number of the primary.
primary() { cut --delimiter=' ' --fields=1 hosts | cut --delimiter=. --fields=4; }

# Succeeds if the primary has a standby that is in sync.
whole() { sql "$(primary)" "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'" | grep --quiet 1; }

# Succeeds if the service uses TLS.
encrypted() {
  sql "$(primary)" "SELECT 1 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'plant-store'" | grep --quiet 1
}

# Succeeds if transactions wait for the standby.
blocked() {
  sql "$(primary)" "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'" | grep --quiet 1
}

# Starts a server, and waits until it responds: join 1. As a primary, even a promoted one, it waits until a standby has synced a commit.
join() {
  as_postgres postgres -D "$folder/data-$1" --port=$port "--listen_addresses=127.0.1.$1" --unix_socket_directories= \
    '--synchronous_standby_names=*' --ssl=on "--ssl_key_file=$folder/key.pem" "--ssl_cert_file=$folder/ca.pem" >>"$1.log" 2>&1 &
  until pg_isready --quiet --host="127.0.1.$1" --port=$port; do kill -0 $! && sleep 0.1 || { tail -n 3 "$1.log" >&2 && return 1; }; done
}

# Sends a signal to a server: signal KILL 1
signal() {
  local server
  server=$(head -1 "data-$2/postmaster.pid")
  kill "-$1" "$server" $(pgrep --parent "$server") || true
}

# Promotes the standby of a primary that was killed, moves the host name to it, and adds a standby.
fail_over() {
  local old
  old=$(primary)
  # It commits nothing before it has a standby.
  sql $((old + 1)) 'SELECT pg_promote()' >/dev/null
  move_name $((old + 1))
  add_standby $((old + 2)) $((old + 1))
}

"${@:2}"
