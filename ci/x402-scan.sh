#!/bin/sh
# Runs the command line of this checkout, at the revision that its user pinned, in the folder of the
# caller. The first call installs what the checkout's lockfile names; it needs Node 20.19 or newer and npm.
# SCANNER_COMMAND, where it is set, is run instead.
set -eu
if [ -n "${SCANNER_COMMAND:-}" ]; then exec $SCANNER_COMMAND "$@"; fi
here=$(cd "$(dirname "$0")/.." && pwd)

# A Node fits if it runs, which the file of another libc does not, and if it runs the TypeScript sources.
fits() { "$1" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 24 ? 0 : 1)' 2> /dev/null; }
say() { echo "x402-scan: $1" >&2; }

install() {
  if ! command -v npm > /dev/null; then
    say 'npm is not on the PATH: install Node 24 with npm'
    exit 2
  fi
  # A working Node of the system saves the download of another.
  omit=--omit=dev
  if fits node; then omit='--omit=dev --omit=optional'; fi
  flags="$omit --ignore-scripts --no-audit --no-fund"
  # A registry that answers with an error is reached. Without an answer npm would try for minutes.
  answer=$(npm ping --fetch-retries=0 --fetch-timeout=8000 2>&1) || case "$answer" in
    *' code E4'[0-9][0-9]* | *' code E5'[0-9][0-9]*) ;;
    *) flags="$flags --offline" ;;
  esac
  if (cd "$here" && npm ci $flags) >&2; then return; fi
  case "$flags" in
    *--offline)
      say 'the registry of npm gives no answer: the first run installs packages, so it needs the network, or a proxy or registry in the settings of npm'
      ;;
  esac
  exit 2
}

# npm writes this file when an install is complete.
if [ ! -e "$here/node_modules/.package-lock.json" ]; then install; fi
node=node
if fits "$here/node_modules/.bin/node"; then node="$here/node_modules/.bin/node"; fi
if ! fits "$node"; then
  say 'no Node here runs the scanner: install Node 24 (on Alpine: the image node:24-alpine)'
  exit 2
fi
exec "$node" "$here/tools/require-node.mjs" "$here/src/cli/main.ts" "$@"
