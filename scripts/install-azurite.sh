#!/bin/bash
# Installs Azurite, Microsoft's emulator of Azure Blob Storage, for the tests over it. It is no dependency of the workspace, because it has
# 366 MB with all that it needs. All clones of one user share it.
set -euo pipefail
version=3.37.0
dir=${XDG_CACHE_HOME:-$HOME/.cache}/downlink/azurite-$version
[ ! -d "$dir" ] || exit 0
mkdir -p "$(dirname "$dir")"
fresh=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
echo '{ "private": true }' > "$fresh/package.json"
npm install --prefix "$fresh" --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error "azurite@$version" > /dev/null
mv -T "$fresh" "$dir" 2> /dev/null || [ -d "$dir" ]
