#!/usr/bin/env bash
# Runs the C core on AArch64, in an emulator. The core is compiled by Swift's clang, the functions it calls
# and is called by are compiled by gcc.
set -eu
cd "$(dirname "$0")/.."
Scripts/setup.sh aarch64
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

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
      -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -g -I CShims/CallShims/include \
      ${options[@]+"${options[@]}"} -c "$file" -o "$objects/$(basename "$file").o"
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

# Links objects: program <name> <object>...
program() {
  local name=$1
  shift
  aarch64-linux-gnu-gcc -o "$folder/$name" "$@" -L/usr/lib/aarch64-linux-gnu -lffi -ldl -pthread
}

run() { timeout 600 qemu-aarch64 "$@"; }

core=(CShims/CallShims/*/*.c CShims/CallShims/*/*.S)
foreign "$folder/foreign" Tests/Core/AArch64/foreign.c

# Each rule by itself, by the direct engine and by libffi beside it, and by libffi alone.
for engine in direct libffi; do
  options=()
  [ $engine = direct ] || options=(-DFWD_WITHOUT_DIRECT_ENGINE)
  compile "$folder/$engine" ${options[@]+"${options[@]}"} "${core[@]}"
  compile "$folder/$engine-calls" ${options[@]+"${options[@]}"} Tests/Core/AArch64/calls.c
  program "calls-$engine" "$folder/$engine"/*.o "$folder/$engine-calls"/*.o "$folder/foreign"/*.o
  run "$folder/calls-$engine" $engine
done
