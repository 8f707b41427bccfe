#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the hottest paths of the C core for AArch64, and compares their ordering instructions with those that
# Documentation/Internals/MemoryOrder.md wants: an emulator does not show that one is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh aarch64
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# Prints each function with its ordering instructions, in the order of the assembly.
instructions() {
  "$clang" --target=aarch64-linux-gnu --sysroot=/usr/aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include \
    -isystem /usr/include/aarch64-linux-gnu -std=c17 -D_GNU_SOURCE -O2 -I CShims/CallShims/include -S -o - "$1" |
    awk '/^[a-z_0-9]+:/ { name = $1; sub(/:.*/, "", name) }
         $1 ~ /^(ldar|ldapr|ldaxr|stlr|stlxr|dmb|swp|cas|ldadd)/ { list[name] = list[name] " " $1 }
         END { for (name in list) print name ":" list[name] }'
}
for file in Tests/Core/AArch64/hot.c CShims/CallShims/delivery/target_list.c; do
  instructions "$file" >>"$found"
done

status=0
# Fails unless a function has these instructions and no others: expect <function> <what they are> <instruction>...
expect() {
  local name=$1 what=$2 line
  shift 2
  line=$(grep "^$name:" "$found" | cut -d: -f2- | sed 's/^ //' || true)
  if [ "$line" = "$*" ]; then
    echo "$name: $line ($what)"
  else
    echo "memory-order.sh: $name has '$line' and should have '$*' ($what)" >&2
    status=1
  fi
}
expect hot_hold 'the cell; the slot; the cell again; the barrier of a reader that must make one' ldar stlr ldar dmb
expect hot_let_go 'the emptied slot; the same barrier' stlr dmb
expect hot_method_find 'the type of an entry' ldar
expect hot_take 'the record of witness tables; a table; the flags' ldar ldar ldar
expect hot_direct_begin 'the reader; a hold' ldar ldar stlr ldar dmb
expect hot_direct_end 'a release' stlr dmb
expect hot_publish 'an exchange with acquire and release' ldaxr stlxr
expect hot_is_awaited 'the fence between the withdrawal and the count' dmb ldar
expect fwd_place_note_other_reader 'the reader, exchanged or stored; the fence before the list' ldar ldaxr stlxr stlr dmb
exit $status
