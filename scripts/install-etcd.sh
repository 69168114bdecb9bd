#!/usr/bin/env bash
# Makes sure that there is an etcd for the tests: the one on the PATH, one built from the public Go module into .tools/, or
# Debian's.
set -eu
cd "$(dirname "$0")/.."
if [ -x .tools/etcd ]; then
  .tools/etcd --version
  exit 0
fi
if command -v go >/dev/null 2>&1; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cat >"$work/main.go" <<'GO'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
GO
  mkdir -p .tools
  if (cd "$work" && go mod init etcd && GOFLAGS=-mod=mod go get go.etcd.io/etcd/server/v3@v3.6.5 && GOFLAGS=-mod=mod go build -o "$OLDPWD/.tools/etcd" .) >"$work/log" 2>&1; then
    .tools/etcd --version
    exit 0
  fi
  tail -5 "$work/log"
fi
if ! command -v etcd >/dev/null 2>&1; then
  if ! command -v apt-get >/dev/null 2>&1; then
    echo 'Neither Go nor apt-get is here to install etcd with: see https://etcd.io/docs/latest/install/.' >&2
    exit 1
  fi
  apt-get update -qq
  apt-get install -y -qq etcd-server
fi
etcd --version
