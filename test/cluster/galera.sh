#!/usr/bin/env bash
# Three MariaDB servers in a Galera cluster. Each has a network namespace of its own, which a bridge connects with this machine:
#   test/cluster/galera.sh FOLDER start    in a new FOLDER; prints the URL of each when they are ready, and runs until it is killed
#   test/cluster/galera.sh FOLDER COMMAND  while it runs; the commands are the functions from `status` on
# Needs root and Debian's packages mariadb-server, galera-4 and rsync.
set -euo pipefail
mkdir -p "$1" && cd "$1"
folder=$PWD
bridge=plant-store
# Addresses for network tests (RFC 2544).
network=198.18.0

sql() {
  mariadb --no-defaults --connect-timeout=2 --host=$network.$1 --user=root --skip-column-names --execute="$2" 2>>sql.log
}

# Runs a server in place of this shell: server 1 [OPTION …]. It reports conflicts with other servers; by default, it would retry once.
server() {
  exec ip netns exec $bridge-$1 setpriv --reuid=mysql --regid=mysql --init-groups mariadbd --no-defaults \
    "--datadir=$folder/data-$1" "--tmpdir=$folder/tmp-$1" "--socket=$folder/$1.sock" "--pid-file=$folder/tmp-$1/pid" \
    --bind-address=0.0.0.0 --binlog-format=ROW --innodb-autoinc-lock-mode=2 --innodb-flush-log-at-trx-commit=1 \
    --innodb-buffer-pool-size=64M --innodb-log-file-size=32M --wsrep-on=ON --wsrep-provider=/usr/lib/galera/libgalera_smm.so \
    --wsrep-provider-options=gcache.size=16M --wsrep-retry-autocommit=0 --wsrep-sst-method=rsync --wsrep-cluster-name=plant-store \
    --wsrep-cluster-address=gcomm://$network.1,$network.2,$network.3 --wsrep-node-address=$network.$1 "--wsrep-node-name=$1" \
    "${@:2}" </dev/null >>"$1.log" 2>&1
}

remove_hosts() {
  for n in 1 2 3; do ip netns delete $bridge-$n; done
  ip link delete $bridge
}

start() {
  for n in 1 2 3; do
    if [ -n "$(ip netns pids $bridge-$n 2>/dev/null)" ]; then echo "another server uses the namespace $bridge-$n" >&2 && exit 1; fi
  done
  trap '{ trap "" TERM INT; kill -KILL $(jobs -p); pkill -KILL --uid mysql --full "$folder/"; wait; remove_hosts; } 2>/dev/null || true' EXIT
  trap 'exit' TERM INT
  # Those of a cluster whose script was killed.
  remove_hosts 2>/dev/null || true
  ip link add $bridge type bridge
  ip address add $network.254/24 dev $bridge
  ip link set $bridge up
  chown mysql .
  printf '%s;\n' 'FLUSH PRIVILEGES' "CREATE USER root@'%'" "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION" >users.sql
  for n in 1 2 3; do
    ip netns add $bridge-$n
    ip link add $bridge-$n type veth peer name eth0 netns $bridge-$n
    ip link set $bridge-$n master $bridge up
    ip -n $bridge-$n address add $network.$n/24 dev eth0
    for device in eth0 lo; do ip -n $bridge-$n link set $device up; done
    install --directory --owner=mysql data-$n tmp-$n
    mariadb-install-db --no-defaults --user=mysql --auth-root-authentication-method=normal --skip-test-db \
      "--datadir=$folder/data-$n" "--tmpdir=$folder/tmp-$n" "--extra-file=$folder/users.sql" >>$n.log 2>&1 &
  done
  wait
  server 1 --wsrep-new-cluster &
  until [ "$(status 1 wsrep_ready)" = ON ]; do kill -0 $! && sleep 0.2 || { tail -n 3 1.log >&2 && return 1; }; done
  for n in 2 3; do server $n & done
  until whole; do sleep 0.2; done
  create_databases plants
  echo mysql://root@$network.{1,2,3}/plants
  # Other shells restart servers.
  sleep infinity &
  wait $!
}

# Prints a status variable: status 1 wsrep_cluster_size
status() { sql "$1" "SHOW STATUS LIKE '$2'" | cut -f 2; }

# Succeeds if each server is a synced member of a cluster of three, and has what the others have committed.
whole() {
  for n in 1 2 3; do
    for expected in wsrep_cluster_size=3 wsrep_local_state=4 wsrep_ready=ON; do
      [ "$(status $n "${expected%=*}")" = "${expected#*=}" ] || return
    done
    wait_for_writes $n || return
  done
}

# Waits until a server has what the others have committed: wait_for_writes 1
wait_for_writes() { sql "$1" 'SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM information_schema.schemata' >/dev/null; }

# Creates databases, and waits until each server has them, because connecting to a database does not wait.
create_databases() {
  sql 1 "$(printf 'CREATE DATABASE %s;' "$@")"
  for n in 1 2 3; do wait_for_writes $n; done
}

# Prints how many transactions failed because of a conflict with another server.
conflicts() {
  for n in 1 2 3; do for name in cert_failures bf_aborts; do status $n wsrep_local_$name; done; done |
    awk '{ sum += $1 } END { print sum }'
}

# Sends a signal to servers simultaneously: signal KILL 1 2 3
signal() { kill "-$1" $(printf 'tmp-%s/pid ' "${@:2}" | xargs cat); }

# Starts a server that was killed, from its last transaction: join 1
join() {
  (server "$1" --wsrep-recover)
  server "$1" "--wsrep-start-position=$(grep --only-matching --perl-regexp 'Recovered position: \K\S+' "$1.log" | tail -n 1)" &
}

# Drops every packet between a server and the other two. This machine still reaches all: isolate 3
isolate() {
  for n in 1 2 3; do
    [ $n = "$1" ] && continue
    ip -n $bridge-$n route replace blackhole "$network.$1"
    ip -n "$bridge-$1" route replace blackhole $network.$n
  done
}

# Delivers packets again.
connect() { for n in 1 2 3; do ip -n $bridge-$n route flush type blackhole; done; }

"${@:2}"
