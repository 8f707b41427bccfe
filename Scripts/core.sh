#!/usr/bin/env bash
# Programs that test the C core alone, without Swift's runtime.
set -eu
cd "$(dirname "$0")/.."
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

build() {
  local name=$1
  shift
  "$clang" -std=c17 -D_GNU_SOURCE -g -fuse-ld=lld -I CShims/CallShims/include "$@" \
    -o "$folder/$name" "Tests/Core/$name.c" CShims/CallShims/*.c CShims/CallShims/*.S \
    -lffi -ldl -pthread
}

# Each allocation fails in turn.
build allocations -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=function \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=realloc
"$folder/allocations"

# A call that copies more than is left of a stack ends in its guard, and not behind it.
build guard -O2
"$folder/guard"
