#!/usr/bin/env bash
# Brings the newest Node of a major version from the npm registry into .tools/node-<version>: scripts/install-node.sh 26
set -eu
cd "$(dirname "$0")/.."
version=${1:?Give a major version, such as 26.}
folder=.tools/node-$version
if [ ! -x "$folder/bin/node" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  package=$(node -p "'node-' + process.platform + '-' + process.arch")@$version
  npm pack --silent --pack-destination "$work" "$package" >/dev/null
  mkdir -p "$folder"
  tar -xzf "$work"/*.tgz -C "$folder" --strip-components=1 package/bin
fi
"$folder/bin/node" --version
