#!/usr/bin/env bash
# Builds the two bundles of src/kveil/studio/static/vendor from the packages of package-lock.json, with their licences
# and checksums. Needed only to upgrade them; the bundles are committed and are what runs.
set -euo pipefail
cd "$(dirname "$0")"
target=${1:-../../src/kveil/studio/static/vendor}
npm ci --no-audit --no-fund --ignore-scripts --silent
mkdir -p "$target"
for bundle in preact editor; do
  node_modules/@esbuild/*/bin/esbuild "$bundle-entry.js" --bundle --format=esm --target=es2022 --minify \
    --legal-comments=none --charset=utf8 --log-level=warning --outfile="$target/$bundle.js"
done
node licences.mjs > "$target/LICENSES.txt"
cd "$target"
sha256sum preact.js editor.js LICENSES.txt > checksums
