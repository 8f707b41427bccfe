#!/usr/bin/env bash
# The C core with every allocation failing in turn, under AddressSanitizer and UBSan.
set -eu
cd "$(dirname "$0")/.."
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$clang" -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-sanitize=function -fuse-ld=lld -I CShims/CallShims/include -I CShims/CallShims \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=realloc \
  -o "$folder/allocations" Tests/Core/allocations.c CShims/CallShims/*.c CShims/CallShims/*.S \
  -lffi -ldl -pthread
# What is lost without memory to remember it is lost on purpose, rather than freed too early.
ASAN_OPTIONS=detect_leaks=0 "$folder/allocations"
