#!/usr/bin/env bash
# Makes sure that there is a Chromium for the tests of the console: the one on the PATH, or that of the system's packages.
set -eu
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then
    "$name" --version --no-sandbox
    exit 0
  fi
done
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
  echo 'no Chromium here, and no package manager to install it with: the tests of the console do not run'
  exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
chromium --version --no-sandbox
