#!/usr/bin/env bash
# Unpacks Debian packages of the unstable branch into a folder. The system stays as it is:
#   test/unpack.sh FOLDER install PACKAGE …   with the packages that they depend on; FOLDER/run sbin/PROGRAM runs one, on x86_64
#   test/unpack.sh FOLDER download PACKAGE …  without them
set -euo pipefail
mkdir -p "$1" && cd "$1"
folder=$PWD
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -1)
mkdir -p apt/lists/partial apt/cache/archives/partial unpacked
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri unstable main" >apt/sources.list
touch apt/status
options=(-qq -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$folder/apt/lists" -o Dir::State::Status="$folder/apt/status" -o Dir::Cache="$folder/apt/cache"
  -o APT::Sandbox::User=root -o APT::Install-Recommends=false)
timeout 120 apt-get "${options[@]}" update
cd apt/cache/archives
timeout 120 apt-get "${options[@]}" --download-only --yes "${@:2}" >/dev/null
for package in *.deb; do dpkg-deb --extract "$package" "$folder/unpacked"; done
libraries=$folder/unpacked/usr/lib/x86_64-linux-gnu
cat >"$folder/run" <<SCRIPT
#!/bin/sh
program='$folder/unpacked/usr/'\$1 && shift
exec '$libraries/ld-linux-x86-64.so.2' --library-path '$libraries'"\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" "\$program" "\$@"
SCRIPT
chmod +x "$folder/run"
