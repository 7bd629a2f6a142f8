#!/bin/sh
# Runs a command of Plant Store with the settings, the user and the data folder of the systemd unit. Install it as
# /usr/local/bin/plant-store, and run it as root. The command cannot open files of other users, so redirect them:
#   plant-store import < plants.ndjson
# If it fails without a message, see journalctl.
unit=plant-store-command-$$
# Ctrl-C ends systemd-run, but not what it started.
trap 'systemctl stop $unit' INT
# A command that a signal ends has failed: other types than oneshot would report success.
systemd-run --unit=$unit --service-type=oneshot --quiet --collect --pipe --wait \
  -p DynamicUser=yes -p User=plant-store -p SupplementaryGroups=plant-store-secrets -p UMask=0077 \
  -p StateDirectory=plant-store -p StateDirectoryMode=0700 -p WorkingDirectory=/var/lib/plant-store \
  -p EnvironmentFile=/etc/plant-store/environment \
  /opt/plant-store/current/node_modules/.bin/plant-store "$@"
