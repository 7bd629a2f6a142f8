#!/usr/bin/env bash
# Three MySQL servers in a replication group with one primary, and MySQL Router in front of it, on loopback:
#   test/cluster/group-replication.sh FOLDER start    in a new FOLDER; prints the URL when it is ready, and runs until it is killed
#   test/cluster/group-replication.sh FOLDER COMMAND  while it runs; the commands are the functions from `primary` on
# Needs root, Debian, x86_64 and the client mariadb.
set -euo pipefail
unpack=$(realpath "$(dirname "$0")/../unpack.sh")
mkdir -p "$1" && cd "$1"
folder=$PWD
members=performance_schema.replication_group_members

sql() {
  mariadb --no-defaults --connect-timeout=2 --host=127.0.0.1 --port="1730$1" --user=root --skip-column-names --execute="$2" 2>>sql.log
}

# Runs a server in place of this shell: mysqld 1 [OPTION …]
mysqld() {
  exec setpriv --reuid=daemon --regid=daemon --clear-groups "$folder/run" sbin/mysqld --no-defaults "--datadir=$folder/data-$1" \
    "--lc-messages-dir=$folder/unpacked/usr/share/mysql" "--plugin-dir=$folder/unpacked/usr/lib/mysql/plugin" --secure-file-priv=NULL \
    "--socket=$folder/$1.sock" "--pid-file=$folder/$1.pid" "--port=1730$1" --bind-address=127.0.0.1 --mysqlx=OFF \
    --innodb-buffer-pool-size=64M "${@:2}" </dev/null >>"$1.log" 2>&1
}

launch() {
  mysqld "$1" "--server-id=$1" --gtid-mode=ON --enforce-gtid-consistency=ON --report-host=127.0.0.1 "--report-port=1730$1" \
    --super-read-only=ON --plugin-load-add=group_replication.so --loose-group-replication-start-on-boot=OFF \
    --loose-group-replication-group-name=706c616e-7473-4000-8000-000000000000 \
    "--loose-group-replication-local-address=127.0.0.1:1740$1" \
    --loose-group-replication-group-seeds=127.0.0.1:17401,127.0.0.1:17402,127.0.0.1:17403 \
    --loose-group-replication-recovery-get-public-key=ON &
  until sql "$1" "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'"; do
    kill -0 $! && sleep 0.2 || { tail -n 3 "$1.log" >&2 && return 1; }
  done
}

start() {
  for n in 1 2 3; do
    if sql $n 'SELECT 1' >/dev/null; then echo "another server uses port 1730$n" >&2 && exit 1; fi
  done
  trap '{ trap "" TERM INT; kill -KILL $(jobs -p); pkill -KILL --uid daemon --full "$folder/"; wait; } 2>/dev/null || true' EXIT
  trap 'exit' TERM INT
  "$unpack" "$folder" install mysql-server-core mysql-router
  chown daemon .
  for n in 1 2 3; do
    install --directory --owner=daemon "data-$n"
    (mysqld $n --initialize-insecure)
  done
  launch 1
  sql 1 'SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION; CREATE DATABASE plants;
    SET GLOBAL group_replication_bootstrap_group = OFF'
  for n in 2 3; do join $n; done
  until whole; do sleep 0.2; done
  router &
  until mariadb --no-defaults --host=127.0.0.1 --port=17300 --user=root --execute='SELECT 1' >/dev/null 2>&1; do sleep 0.2; done
  echo mysql://root@127.0.0.1:17300/plants
  # Other shells restart servers.
  sleep infinity &
  wait $!
}

# Starts MySQL Router. Debian lacks MySQL Shell, which would create this schema.
router() {
  export LD_LIBRARY_PATH=$folder/unpacked/usr/lib/mysql-router
  sql 1 "CREATE DATABASE mysql_innodb_cluster_metadata; USE mysql_innodb_cluster_metadata;
    CREATE SQL SECURITY INVOKER VIEW schema_version AS SELECT 2 AS major, 0 AS minor, 0 AS patch;
    CREATE SQL SECURITY INVOKER VIEW v2_this_instance AS SELECT 'gr' AS cluster_type;
    CREATE SQL SECURITY INVOKER VIEW v2_gr_clusters AS SELECT 1 AS cluster_id, 'plants' AS cluster_name;
    CREATE SQL SECURITY INVOKER VIEW v2_instances AS SELECT 1 AS cluster_id, member_id AS mysql_server_uuid,
      CONCAT(member_host, ':', member_port) AS endpoint, NULL AS xendpoint, '{}' AS attributes, NULL AS label FROM $members;
    CREATE TABLE v2_routers (router_id INT PRIMARY KEY, router_name TEXT, address TEXT, version TEXT, last_check_in DATETIME,
      attributes JSON, options JSON);
    CREATE USER router@'%' IDENTIFIED BY 'router'; GRANT SELECT ON $members TO router@'%';
    GRANT SELECT, UPDATE ON mysql_innodb_cluster_metadata.* TO router@'%'"
  cat >router.conf <<CONFIG
[DEFAULT]
logging_folder=
plugin_folder=$folder/unpacked/usr/lib/mysqlrouter/plugin
dynamic_state=$folder/router.json
keyring_path=$folder/keyring
master_key_path=$folder/keyring.key
connect_timeout=2
read_timeout=2
[metadata_cache:plants]
cluster_type=gr
metadata_cluster=plants
user=router
[routing:primary]
bind_address=127.0.0.1
bind_port=17300
destinations=metadata-cache://plants/?role=PRIMARY&disconnect_on_metadata_unavailable=yes
routing_strategy=first-available
CONFIG
  local servers='"mysql://127.0.0.1:17301", "mysql://127.0.0.1:17302", "mysql://127.0.0.1:17303"'
  echo "{ \"version\": \"1.0.0\", \"metadata-cache\": { \"cluster-metadata-servers\": [$servers] } }" >router.json
  ./run bin/mysqlrouter_keyring init "$folder/keyring" --master-key-file="$folder/keyring.key"
  printf router | ./run bin/mysqlrouter_keyring set "$folder/keyring" router password --master-key-file="$folder/keyring.key" >/dev/null
  exec ./run bin/mysqlrouter --config=router.conf </dev/null >router.log 2>&1
}

# Prints the number of the primary.
primary() {
  local query="SELECT RIGHT(MEMBER_PORT, 1) FROM $members WHERE MEMBER_ROLE = 'PRIMARY' AND MEMBER_STATE = 'ONLINE'"
  for n in 1 2 3; do sql $n "$query" | grep . && return; done
  false
}

# Succeeds if the servers agree that all are members: "3 3 17301" has the number of servers, and the members and the primary that each sees.
whole() {
  [ "$(for n in 1 2 3; do
    sql $n "SELECT COUNT(*), MAX(IF(MEMBER_ROLE = 'PRIMARY', MEMBER_PORT, '')) FROM $members WHERE MEMBER_STATE = 'ONLINE'"
  done | sort | uniq -c | xargs | cut -c 1-3)" = '3 3' ]
}

# Starts a server that was killed: join 1
join() {
  launch "$1"
  sql "$1" 'START GROUP_REPLICATION'
}

# Sends a signal to a server: signal KILL 1
signal() { kill "-$1" "$(cat "$2.pid")"; }

# Makes another server the primary.
switchover() {
  local primary
  primary=$(primary)
  sql "$primary" "SELECT group_replication_set_as_primary('$(sql $((primary % 3 + 1)) 'SELECT @@server_uuid')')"
}

"${@:2}"
