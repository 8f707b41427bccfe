#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the C core for AArch64, and compares the ordering instructions of each function with those in
# Tests/Core/AArch64/orders.txt, which Documentation/Internals/MemoryOrder.md explains: an emulator does not show
# that one is missing. `--record` prints the functions as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh aarch64
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
wanted=Tests/Core/AArch64/orders.txt

# Prints each function with its ordering instructions, in the order of the assembly: instructions <clang argument>...
instructions() {
  "$clang" --target=aarch64-linux-gnu --sysroot=/usr/aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include \
    -isystem /usr/include/aarch64-linux-gnu -std=c17 -D_GNU_SOURCE -O2 -I CShims/CallShims/include -S -o - "$@" |
    awk '/^[a-z_0-9]+:/ { name = $1; sub(/:.*/, "", name) }
         $1 ~ /^(ldar|ldapr|ldaxr|stlr|stlxr|dmb|swp|cas|ldadd)/ { list[name] = list[name] " " $1 }
         END { for (name in list) print name ":" list[name] }' | LC_ALL=C sort
}

found=$(mktemp)
trap 'rm -f "$found"' EXIT
{
  echo '# What Swift code inlines, as functions.'
  instructions '-Dinline=__attribute__((used))' -include CForwardingShims.h -x c /dev/null
  for file in $(git ls-files 'CShims/CallShims/*.c'); do
    echo "# ${file#CShims/CallShims/}"
    instructions "$file"
  done
} | awk '/^#/ { file = $0; next } file { print file; file = "" } { print }' >"$found"
if [ "${1:-}" = --record ]; then exec cat "$found"; fi
# What a function's instructions are stands behind them.
if sed -E 's/ +\(.*//' "$wanted" | diff - "$found" >&2; then
  echo "memory-order.sh: $(grep -vc '^#' "$found") functions have their ordering instructions"
else
  echo "memory-order.sh: the functions behind '>' should have the instructions behind '<'" >&2
  exit 1
fi
