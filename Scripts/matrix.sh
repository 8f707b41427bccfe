#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls functions of random signatures through the C core, and has them call back. The functions are compiled
# by gcc and by clang.
#   matrix.sh             on this machine, by the direct engine, with libffi for comparison; and by libffi alone
#   matrix.sh aarch64     the same on AArch64, in an emulator
# FORWARDING_SIGNATURES is the number of signatures (3,000), FORWARDING_SEED the first seed (1000). A fault is
# reported with its seed, signature and place. FORWARDING_FOLDER is a folder where all files are left.
set -eu
cd "$(dirname "$0")/.."
machine="${1:-}"
count="${FORWARDING_SIGNATURES:-3000}"
seed="${FORWARDING_SEED:-1000}"
folder="${FORWARDING_FOLDER:-}"
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"

clang=("$(dirname "$(readlink -f "$(command -v swift)")")/clang")
gcc=(gcc)
link=("${clang[@]}" -fuse-ld=lld)
emulator=()
libraries=()
engines=(direct libffi)
if [ "$machine" = aarch64 ]; then
  Scripts/setup.sh aarch64
  clang+=(--target=aarch64-linux-gnu --sysroot=/usr/aarch64-linux-gnu
    -isystem /usr/aarch64-linux-gnu/include -isystem /usr/include/aarch64-linux-gnu)
  gcc=(aarch64-linux-gnu-gcc)
  link=(aarch64-linux-gnu-gcc)
  emulator=(qemu-aarch64-static)
  libraries=(-L/usr/lib/aarch64-linux-gnu)
elif [ -n "$machine" ]; then
  echo "there is no machine '$machine'" >&2
  exit 1
fi

build=${FORWARDING_BUILD:-.build}
# shellcheck disable=SC2046
swift build --product CallMatrix --scratch-path "$build" $(cat Scripts/strict.flags) >"$folder/build.log" 2>&1 || {
  cat "$folder/build.log"
  exit 1
}
"$build/debug/CallMatrix" "$folder" "$count" "$seed" ${machine:+"$machine-linux"}

core() { "${clang[@]}" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -I CShims/CallShims/include "$@"; }

# Compiles the core and the driver for one engine: engine <name> <option>...
engine() {
  local name=$1 file
  shift
  mkdir -p "$folder/$name"
  for file in CShims/CallShims/*/*.c CShims/CallShims/*/*.S Tests/Core/Matrix/matrix.c; do
    core -O2 -g "$@" -c "$file" -o "$folder/$name/$(basename "$file").o"
  done
}

# Compiles and runs one part of the signatures, with functions of both compilers: part <number>
part() {
  # The file marks the part as failed until it has run to its end, also if the compiler stops it.
  echo "part $1 did not come to its end" >"$folder/part_$1.failed"
  core -O0 -I Tests/Core/Matrix -c "$folder/cases_$1.c" -o "$folder/cases_$1.o"
  "${clang[@]}" -w -O0 -DONLY_MASKS -c "$folder/part_$1.c" -o "$folder/masks_$1.o"
  part_by "$1" gcc "${gcc[@]}"
  part_by "$1" clang "${clang[@]}"
  rm "$folder/cases_$1.o" "$folder/masks_$1.o" "$folder/part_$1.failed"
}

# Compiles and runs a part with the functions of one compiler: part_by <number> <name of the compiler> <command>...
part_by() {
  local number=$1 name="$1.$2" engine
  shift 2
  # The log catches the compiler's notes about ABI changes in older releases, which even -w does not turn off.
  "$@" -w -O1 -DONLY_CALLS -c "$folder/part_$number.c" -o "$folder/part_$name.o" 2>"$folder/part_$name.log" || {
    cat "$folder/part_$name.log"
    return 1
  }
  for engine in "${engines[@]}"; do
    local program="$folder/$engine-$name"
    "${link[@]}" -o "$program" "$folder/cases_$number.o" "$folder/masks_$number.o" "$folder/part_$name.o" \
      "$folder/$engine"/*.o ${libraries[@]+"${libraries[@]}"} -lffi -ldl -lm -pthread
    (ulimit -c 0 && exec timeout 900 ${emulator[@]+"${emulator[@]}"} "$program" >"$program.rows" 2>"$program.faults") ||
      echo "$engine engine, part and compiler $name: ended with $?" >"$program.failed"
    rm "$program"
  done
  rm "$folder/part_$name.o"
}

rm -f "$folder"/*.rows "$folder"/*.faults "$folder"/*.failed
engine direct
engine libffi -DFWD_WITHOUT_DIRECT_ENGINE
last=$(((count + 99) / 100 - 1))
# The result of a part is in its files, because `wait` reports nothing about a job that has already ended.
for number in $(seq 0 $last); do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  part "$number" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || true; done

printf '%-8s %-26s %-8s %10s %10s %7s\n' engine way compiler signatures calls wrong
for engine in "${engines[@]}"; do
  for compiler in gcc clang; do
    cat "$folder/$engine-"*".$compiler.rows" | awk -F '\t' -v engine=$engine -v compiler=$compiler '
      { signatures[$1] += $2; calls[$1] += $3; wrong[$1] += $4; if (!($1 in at)) { at[$1] = n++; way[n] = $1 } }
      END { for (i = 1; i <= n; i++) printf "%-8s %-26s %-8s %10d %10d %7d\n", engine, way[i], compiler,
            signatures[way[i]], calls[way[i]], wrong[way[i]] }'
  done
done
for number in $(seq 0 $last); do
  for engine in "${engines[@]}"; do
    for compiler in gcc clang; do
      name="$engine-$number.$compiler"
      [ -s "$folder/$name.rows" ] || echo "$name has no rows" >"$folder/$name.empty.failed"
    done
  done
done
for way in 'direct call' trampoline; do
  grep -qs "^$way" "$folder"/direct-*.rows || echo "no $way was tried" >"$folder/direct.failed"
done
if ls "$folder"/*.failed >/dev/null 2>&1; then
  cat "$folder"/*.failed "$folder"/*.faults | head -200
  echo "matrix: something is wrong; the same again: FORWARDING_SIGNATURES=$count FORWARDING_SEED=$seed $0 $machine"
  exit 1
fi
