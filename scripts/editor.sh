#!/usr/bin/env bash
# Installs a real VS Code that needs no desktop: code-server, a private Node 24 and vsce, all from npm.
# Usage: scripts/editor.sh [DIR]    DIR defaults to .editor; a second run changes nothing.
# Leaves DIR/bin/node (24), DIR/bin/vsce and DIR/code-server.
# Needs: node >= 18 with npm (any; they only bootstrap the private Node). With a C++ compiler, make and Python the
# editor's log writer is built too; without it everything works but the output panel, which stays empty.
set -euo pipefail

NODE_VERSION=24.21.0        # code-server 4.139 needs Node 24; vsce 4.1 needs Node >= 22
CODE_SERVER_VERSION=4.139.1 # = VS Code 1.139.1
VSCE_VERSION=4.1.0

repository=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$repository/.editor}
mkdir -p "$target/bin"
target=$(cd "$target" && pwd)
stamp="node $NODE_VERSION, code-server $CODE_SERVER_VERSION, vsce $VSCE_VERSION"
if [ "$(cat "$target/.ready" 2>/dev/null || true)" = "$stamp" ]; then
  echo "$target is ready: $stamp"
  exit 0
fi
command -v npm >/dev/null || { echo "npm is missing: install Node 18 or newer, then run this again." >&2; exit 2; }

quietly() { npm "$@" --ignore-scripts --no-audit --no-fund --loglevel=error; }
install() { # FOLDER PACKAGE: a folder each, so that nothing mixes with the extension's dependencies
  mkdir -p "$1"
  echo '{"private": true}' >"$1/package.json"
  (cd "$1" && quietly install "$2")
}

# The package of this platform itself: it holds Node and its headers, and no install script has to run.
platform=$(node -p '`node-${process.platform}-${process.arch}`')
install "$target/node24" "$platform@$NODE_VERSION"
node24="$target/node24/node_modules/$platform"
ln -sfn "../node24/node_modules/$platform/bin/node" "$target/bin/node"
export PATH="$target/bin:$PATH"

# Install scripts are skipped at all three levels: they want Kerberos headers for what the editor does not need here.
install "$target/code-server" "code-server@$CODE_SERVER_VERSION"
vscode="$target/code-server/node_modules/code-server/lib/vscode"
(cd "$vscode" && quietly install --omit=dev)
(cd "$vscode/extensions" && quietly install --omit=dev)
if command -v c++ >/dev/null && command -v make >/dev/null && command -v python3 >/dev/null; then
  (cd "$vscode" && npm_config_nodedir="$node24" npm rebuild @vscode/spdlog --loglevel=error)
else
  echo "No C++ compiler, make or Python: this editor's output panel will stay empty." >&2
fi

install "$target/vsce" "@vscode/vsce@$VSCE_VERSION"
ln -sfn ../vsce/node_modules/.bin/vsce "$target/bin/vsce"

echo "$stamp" >"$target/.ready"
echo "$target is ready: $stamp"
