#!/bin/sh
# Builds the image localhost/node:test, which replaces the official Node image, so that the test needs no registry of images:
#   NODE=FOLDER CERTIFICATES=FILE test/container/node-image.sh
# It consists of Debian, of the Node in FOLDER, and of the npm of this machine. Needs root and Debian's packages podman and
# debootstrap. Works in the current folder.
set -eu
. /etc/os-release
debootstrap --variant=minbase --include=libstdc++6 "$VERSION_CODENAME" slim
cp -r "$NODE/bin" slim/usr/local
slim=$PWD/slim
(cd "$(dirname "$(command -v node)")/.." && cp -r --parents lib/node_modules/npm "$slim/usr/local")
ln -s ../lib/node_modules/npm/bin/npm-cli.js slim/usr/local/bin/npm
# Certificate authorities that npm on this machine has to trust.
cat "$CERTIFICATES" >slim/usr/local/share/certificates.pem
rm -r slim/usr/share/doc slim/usr/share/locale slim/var/cache/apt slim/var/lib/apt/lists
tar -C slim -c . | podman import --change ENV=PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --change ENV=NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.pem - localhost/node:test
