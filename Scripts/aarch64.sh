#!/usr/bin/env bash
# Runs the C core on AArch64, in an emulator. The core is compiled by Swift's clang, the functions it calls
# and is called by are compiled by gcc.
set -eu
cd "$(dirname "$0")/.."
Scripts/setup.sh aarch64
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
programs="$folder/programs"
mkdir "$programs"

# Compiles C files and machine code as the package does, into a folder of objects:
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

# Compiles files by gcc, which knows nothing of the core: foreign <folder> <file>...
foreign() {
  local objects=$1 file
  shift
  mkdir -p "$objects"
  for file in "$@"; do
    aarch64-linux-gnu-gcc -std=gnu17 -O2 -g -Wall -Wextra -Werror -c "$file" \
      -o "$objects/$(basename "$file").o"
  done
}

# Links objects, with more options if there are any: program <name> <object>...
program() {
  local name=$1
  shift
  aarch64-linux-gnu-gcc -o "$programs/$name" "$@" -L/usr/lib/aarch64-linux-gnu -lffi -ldl -pthread
}

# An emulator says where its own stack is when a program dies, and leaves a file.
run() { (ulimit -c 0 && exec timeout 600 qemu-aarch64 "$@"); }

core=(CShims/CallShims/*/*.c CShims/CallShims/*/*.S)
foreign "$folder/foreign" Tests/Core/AArch64/foreign.c

# One build after the other: <build> <option>...
build() {
  local build=$1 name
  shift
  compile "$folder/$build" "$@" "${core[@]}"
  for name in AArch64/calls allocations callbacks guard holds members; do
    compile "$folder/$build-${name#*/}" "$@" "Tests/Core/$name.c"
  done
  program "$build-calls" "$folder/$build"/*.o "$folder/$build-calls"/*.o "$folder/foreign"/*.o
  program "$build-allocations" "$folder/$build"/*.o "$folder/$build-allocations"/*.o \
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=realloc
  for name in callbacks guard holds members; do
    program "$build-$name" "$folder/$build"/*.o "$folder/$build-$name"/*.o -Wl,-z,now
  done
}

# Optimized, and so that a processor can check where jumps lead; as in a debug build, where rare paths are
# common; and without the direct engine.
build direct -O2 -mbranch-protection=standard
build checked -O0 -DFWD_CHECKED -fsanitize=undefined -fno-sanitize=function -fsanitize-trap=undefined
build libffi -O2 -DFWD_WITHOUT_DIRECT_ENGINE

for build in direct checked libffi; do
  engine=direct
  [ $build != libffi ] || engine=libffi
  # Each rule by itself, by the engine of the build and by libffi beside it.
  run "$programs/$build-calls" $engine
  run "$programs/$build-callbacks"
  # Each allocation fails in turn.
  run "$programs/$build-allocations"
  # A call that copies more than is left of a stack ends in its guard, and not behind it.
  run "$programs/$build-guard"
  run "$programs/$build-guard" many
done

# A processor without guards, and pages of each size that systems have.
run -cpu cortex-a53 "$programs/direct-callbacks"
for size in 16384 65536; do
  run -p $size "$programs/direct-calls" direct
  run -p $size "$programs/direct-callbacks"
done

# The protocol of holds, and lists.
run "$programs/checked-holds" 5
run "$programs/checked-members"

# Where jumps are guarded, machine code that did not say that it is ready would turn that off.
for name in call_large_aarch64 trampoline_aarch64; do
  aarch64-linux-gnu-readelf -n "$folder/direct/$name.S.o" | grep -q 'AArch64 feature: BTI, PAC'
  aarch64-linux-gnu-readelf -SW "$folder/direct/$name.S.o" | grep '\.note\.GNU-stack' | grep -qv ' X '
done
