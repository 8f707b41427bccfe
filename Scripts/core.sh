#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the programs that test the C core alone, without Swift's runtime.
set -eu
cd "$(dirname "$0")/.."
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Builds Tests/Core/<name>.c as a program of that name: build <name> <option>...
build() {
  local name=$1
  shift
  "$clang" -std=c17 -D_GNU_SOURCE -g -fuse-ld=lld -I CShims/CallShims/include \
    -o "$folder/$name" "Tests/Core/$name.c" CShims/CallShims/*/*.c CShims/CallShims/*/*.S \
    -lffi -ldl -lm -pthread "$@"
}

# Each allocation fails once.
build allocations -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=function \
  @Tests/Core/allocations.flags
timeout 120 "$folder/allocations"

build lists -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=function
timeout 120 "$folder/lists"

# A call that copies more than the rest of the stack hits the guard page, and does not write past it.
build guard -O2
timeout 120 "$folder/guard"
timeout 120 "$folder/guard" many

# Callbacks: their code pages, thousands of callbacks, a child process, threads, process exit, and backtraces.
build callbacks -O2
timeout 120 "$folder/callbacks"
build callbacks -O2 -DFWD_WITHOUT_DIRECT_ENGINE
timeout 120 "$folder/callbacks"

# Held values are disposed of neither too early nor too late. A checked build has few hold slots per thread.
if [ "$(uname -m)" = x86_64 ]; then
  build interrupted -O2 -DFWD_CHECKED
  timeout 120 "$folder/interrupted"
fi
build holds -O2 -DFWD_CHECKED
timeout 60 "$folder/holds" 5
build holds -O1 -DFWD_CHECKED -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-sanitize=function
timeout 60 "$folder/holds" 3
# Swift's ThreadSanitizer also intercepts Dispatch, so it must be linked.
libraries="${clang%/*}/../lib/swift/linux"
build holds -O1 -DFWD_CHECKED -fsanitize=thread -Wl,--no-as-needed -L"$libraries" \
  -Wl,-rpath,"$libraries" -ldispatch -lBlocksRuntime
timeout 60 "$folder/holds" 3
