#!/usr/bin/env bash
# Makes sure that there is a kubectl: the one on the PATH, or one built from the public Go module into .kubectl/,
# or Debian's.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PWD/.kubectl:$PATH"
if command -v kubectl >/dev/null 2>&1; then
  kubectl version --client
  exit 0
fi
if command -v go >/dev/null 2>&1; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cat >"$work/main.go" <<'GO'
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() { os.Exit(cli.Run(cmd.NewDefaultKubectlCommand())) }
GO
  (cd "$work" && go mod init kubectl && go get k8s.io/kubectl@v0.34.1 k8s.io/component-base@v0.34.1 && go mod tidy) >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  mkdir -p .kubectl
  (cd "$work" && go build -o "$OLDPWD/.kubectl/kubectl" .)
elif ! command -v apt-get >/dev/null 2>&1; then
  echo 'Neither Go nor apt-get is here to install kubectl with: see https://kubernetes.io/docs/tasks/tools/.' >&2
  exit 1
else
  apt-get update -qq
  apt-get install -y -qq kubernetes-client
fi
kubectl version --client
