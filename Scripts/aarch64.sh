#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the C core on AArch64, in an emulator. Swift's clang compiles the core; gcc compiles the functions that
# the core calls and that call it.
set -eu
cd "$(dirname "$0")/.."
Scripts/setup.sh aarch64
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
programs="$folder/programs"
mkdir "$programs"

# Compiles C files and assembly with the package's options, into a folder of objects:
#   compile <folder> <option>... <file>...
compile() {
  local objects=$1 file
  local -a options=()
  shift
  mkdir -p "$objects"
  while [ "${1#-}" != "$1" ]; do
    options+=("$1")
    shift
  done
  for file in "$@"; do
    "$clang" --target=aarch64-linux-gnu --sysroot=/usr/aarch64-linux-gnu \
      -isystem /usr/aarch64-linux-gnu/include -isystem /usr/include/aarch64-linux-gnu \
      -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -g -I CShims/CallShims/include \
      "${options[@]}" -c "$file" -o "$objects/$(basename "$file").o"
  done
}

# Compiles files with gcc, whose code is independent of the core: foreign <folder> <file>...
foreign() {
  local objects=$1 file
  shift
  mkdir -p "$objects"
  for file in "$@"; do
    aarch64-linux-gnu-gcc -std=gnu17 -O2 -g -Wall -Wextra -Werror -c "$file" \
      -o "$objects/$(basename "$file").o"
  done
}

# Links objects, with linker options if there are any: program <name> <object>...
program() {
  local name=$1
  shift
  aarch64-linux-gnu-gcc -o "$programs/$name" "$@" -L/usr/lib/aarch64-linux-gnu -lffi -ldl -lm -pthread
}

# When a program crashes, the emulator would write a core file, so core files are turned off.
run() { (ulimit -c 0 && exec timeout 600 qemu-aarch64-static "$@"); }

core=(CShims/CallShims/*/*.c CShims/CallShims/*/*.S)
foreign "$folder/foreign" Tests/Core/AArch64/foreign.c

# Builds every program with the given options: build <build> <option>...
build() {
  local build=$1 name
  shift
  compile "$folder/$build" "$@" "${core[@]}"
  for name in AArch64/calls allocations callbacks guard holds lists; do
    compile "$folder/$build-${name#*/}" "$@" "Tests/Core/$name.c"
  done
  program "$build-calls" "$folder/$build"/*.o "$folder/$build-calls"/*.o "$folder/foreign"/*.o
  program "$build-allocations" "$folder/$build"/*.o "$folder/$build-allocations"/*.o \
    @Tests/Core/allocations.flags
  for name in callbacks guard holds lists; do
    program "$build-$name" "$folder/$build"/*.o "$folder/$build-$name"/*.o -Wl,-z,now
  done
}

# Three builds: optimized, with branch protection; a debug build that takes rare paths often, with UBSan; and
# one without the direct engine.
build direct -O2 -mbranch-protection=standard
build checked -O0 -DFWD_CHECKED -fsanitize=undefined -fno-sanitize=function -fsanitize-trap=undefined
build libffi -O2 -DFWD_WITHOUT_DIRECT_ENGINE

for build in direct checked libffi; do
  engine=direct
  [ $build != libffi ] || engine=libffi
  # Each rule alone, by the engine of the build and by libffi for comparison.
  run "$programs/$build-calls" $engine
  run "$programs/$build-callbacks"
  # Each allocation fails once.
  run "$programs/$build-allocations"
  # A call that copies more than the rest of the stack hits the guard page, and does not write past it.
  run "$programs/$build-guard"
  run "$programs/$build-guard" many
done

# A processor without branch protection, and each page size that systems use.
run -cpu cortex-a53 "$programs/direct-callbacks"
for size in 16384 65536; do
  run -p $size "$programs/direct-calls" direct
  run -p $size "$programs/direct-callbacks"
done

# The protocol of holds, and member lists.
run "$programs/checked-holds" 5
run "$programs/checked-lists"

# Assembly that is not marked as ready for branch protection would turn it off for the whole program.
for name in call_stack_aarch64 trampoline_aarch64; do
  aarch64-linux-gnu-readelf -n "$folder/direct/$name.S.o" | grep -q 'AArch64 feature: BTI, PAC'
  aarch64-linux-gnu-readelf -SW "$folder/direct/$name.S.o" | grep '\.note\.GNU-stack' | grep -qv ' X '
done
