#!/usr/bin/env bash
# Runs the command line of this checkout, at the revision that its user pinned, in the folder of the
# caller. The first call installs what the checkout's lockfile names; it needs Node 20.19 or newer and npm.
# SCANNER_COMMAND, where it is set, is run instead.
set -euo pipefail
if [ -n "${SCANNER_COMMAND:-}" ]; then exec $SCANNER_COMMAND "$@"; fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# npm writes this file when an install is complete.
if [ ! -e "$here/node_modules/.package-lock.json" ]; then
  (cd "$here" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund) >&2
fi
node="$here/node_modules/.bin/node"
if [ ! -e "$node" ]; then node=node; fi
exec "$node" "$here/tools/require-node.mjs" "$here/src/cli/main.ts" "$@"
