#!/usr/bin/env bash
# Builds the API server of Kubernetes from its public Go modules into .tools/, for the test that it accepts the chart's objects.
set -eu
cd "$(dirname "$0")/.."
version=1.36.1
tool=$PWD/.tools/kube-apiserver
if [ -x "$tool" ]; then
  "$tool" --version
  exit 0
fi
if ! command -v go >/dev/null 2>&1; then
  echo 'Go is not here to build kube-apiserver with: see https://go.dev/doc/install.' >&2
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/main.go" <<'GO'
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
GO
cd "$work"
export GOFLAGS='-mod=mod -buildvcs=false'
{
  go mod init kube-apiserver
  # The modules of Kubernetes' repository are required as v0.0.0, and released as v0.36.1.
  go mod edit -require="k8s.io/kubernetes@v$version"
  go mod download -json "k8s.io/kubernetes@v$version" >module.json
  gomod=$(sed -n 's/.*"GoMod": "\(.*\)".*/\1/p' module.json)
  for module in $(sed -n 's/^\t\(k8s.io\/[a-z-]*\) v0\.0\.0$/\1/p' "$gomod"); do
    go mod edit -replace="$module=$module@v0.${version#1.}"
  done
  go mod tidy
  mkdir -p "$(dirname "$tool")"
  package=k8s.io/component-base/version
  go build -trimpath -ldflags "-s -w -X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=36" -o "$tool" .
} >log 2>&1 || {
  tail -5 log >&2
  exit 1
}
"$tool" --version
