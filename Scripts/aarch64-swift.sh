#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the package for AArch64 Linux on a machine with another processor, and runs it in an emulator.
#   aarch64-swift.sh                 all of these, in this order
#   aarch64-swift.sh build           all products and tests in debug, all products in release
#   aarch64-swift.sh tool            the tool: tour, doctor, explain, call, and calls from and to this machine
#   aarch64-swift.sh tests [REGEX]   the tests, or those of some targets; each skipped one with its reason
#   aarch64-swift.sh exchange        a journal and encoded calls, written and read here and there
#   aarch64-swift.sh matrix          random signatures against C, compiled meanwhile by gcc and by clang
# The SDK is FORWARDING_SDK, a folder that aarch64-sdk.sh made; or the one that was kept in the cache; or
# ../shared/aarch64-swift/sdk.tar.xz beside the project; or made of Debian's packages. FORWARDING_SIGNATURES is the
# number of signatures (3,000), FORWARDING_TEST_MINUTES the limit for the tests of one target (20).
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh aarch64-swift
version=$(swiftc --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/\1/p' | head -1)
sdk=${FORWARDING_SDK:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-forwarding/aarch64-sdk-$version}
if [ ! -e "$sdk/run" ]; then
  mkdir -p "$sdk"
  if [ -e ../shared/aarch64-swift/sdk.tar.xz ]; then
    FORWARDING_SDK_ARCHIVE=$(realpath ../shared/aarch64-swift/sdk.tar.xz) Scripts/aarch64-sdk.sh "$sdk"
  else
    Scripts/aarch64-sdk.sh "$sdk"
  fi
fi
triple=aarch64-unknown-linux-gnu
sysroot=$sdk/debian-arm64.artifactbundle/arm64/sysroot
toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
scratch=$PWD/.build/aarch64
debug=$scratch/$triple/debug
mkdir -p "$scratch"

build() {
  PKG_CONFIG_PATH=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig swift build --swift-sdks-path "$sdk" \
    --swift-sdk debian-arm64 --scratch-path "$scratch" "$@" >"$scratch/build.log" 2>&1 ||
    { grep -A 5 'error:' "$scratch/build.log" | head -80; exit 1; }
}

# Builds for this machine, with the options of `make test`, so that its build serves.
read -ra options <<<"--traits Macros $(cat Scripts/strict.flags)"
native() { swift build "${options[@]}" "$@"; }

# Compilers for tests that start one: they run here, and make code for AArch64.
tools=$scratch/tools
compiler() {
  local name=$1
  shift
  mkdir -p "$tools"
  printf '#!/bin/sh\nexec env -u LD_LIBRARY_PATH -u QEMU_LD_PREFIX %s "$@"\n' "$*" >"$tools/$name"
  chmod +x "$tools/$name"
}
compiler cc aarch64-linux-gnu-gcc
compiler clang "$toolchain/clang" --target=$triple "--sysroot=$sysroot" -fuse-ld=lld
compiler swiftc "$toolchain/swiftc" -target $triple -sdk "$sysroot" -resource-dir "$sysroot/usr/lib/swift" -use-ld=lld
# What repeats a thing many times does so less often: an emulated program is tens of times slower.
emulated() {
  NO_COLOR=1 PATH=$tools:$PATH JOURNAL_KILLS=3 JOURNAL_TRIALS=20 JOURNAL_APPENDS=10000 REMOTE_KILLS=1000 \
    REMOTE_FLOOD=20000 FORWARDING_HISTORIES=100 FORWARDING_SECONDS=1 "$sdk/run" "$@"
}

parts_build() {
  local start=$SECONDS
  build --build-tests --traits Macros
  echo "debug: products and tests are built ($((SECONDS - start)) s)"
  start=$SECONDS
  build -c release
  echo "release: products are built ($((SECONDS - start)) s)"
}

# Compares the output of the tool with a text: shows <expected> <argument>...
shows() {
  local expected=$1 output
  shift
  output=$(emulated "$tool" "$@") || { echo "forward $*: ended with $?: $output"; exit 1; }
  [[ $output == *"$expected"* ]] || { echo "forward $*: '$expected' is not in: $output"; exit 1; }
  echo "forward $*: $expected"
}

# A host of one machine and a client of the other: exchange <name> <command of the host> -- <command of the client>
exchange() {
  local name=$1 folder host
  local -a server=()
  shift
  while [ "$1" != -- ]; do
    server+=("$1")
    shift
  done
  shift
  folder=$(mktemp -d)
  "${server[@]}" serve "unix:$folder/shop" --count 2 >"$folder/out" 2>&1 &
  host=$!
  for _ in $(seq 600); do
    [ ! -s "$folder/out" ] || break
    sleep 0.1
  done
  local price order
  price=$("$@" send --deadline 60 "unix:$folder/shop" shop.shop price: 'd@:*' tea) || true
  order=$("$@" send --deadline 60 "unix:$folder/shop" shop.shop volume: 'd@:{=ddd}' '[1,2,2.5]') || true
  kill "$host" 2>/dev/null || true
  wait "$host" || true
  rm -rf "$folder"
  [ "$price $order" = "3.5 5.0" ] || { echo "$name: answered '$price' and '$order'"; exit 1; }
  echo "$name: 3.5, 5.0"
}

parts_tool() {
  local kind
  for kind in debug release; do
    tool=$scratch/$triple/$kind/forward
    echo "The tool, $kind:"
    shows 'All 12 checks passed.' doctor
    shows 1024 call libm.so.6 pow ddd 2 10
    shows 0.1 call libm.so.6 fabsl DD -0.1
    shows v0:v1:v2:v3 explain 'v@:{CGRect={CGPoint=dd}{CGSize=dd}}i'
    shows 'call.invoke(on: one)' tour
  done
  native --product forward >"$scratch/native.log" 2>&1 || { tail -20 "$scratch/native.log"; exit 1; }
  exchange "a host on AArch64, asked from $(uname -m)" emulated "$tool" -- .build/debug/forward
  exchange "a host on $(uname -m), asked from AArch64" .build/debug/forward -- emulated "$tool"
}

# Runs the tests of one target, with the library's output in a log: target <name>
target() {
  local status=0
  emulated timeout -k 10 "$((60 * ${FORWARDING_TEST_MINUTES:-20}))" "$debug/swift-forwardingPackageTests.xctest" \
    --testing-library swift-testing --filter "^$1\\." >"$scratch/$1.log" 2>&1 || status=$?
  if [ "$status" -ne 0 ] && [ "$status" -ne 69 ]; then echo "$status" >"$scratch/$1.failed"; fi
}

parts_tests() {
  local pattern=${1:-.} folder name failed=0 passed=0 skipped=0
  local -a names=()
  rm -f "$scratch"/*.failed
  for folder in Tests/*Tests; do
    name=${folder##*/}
    if [[ $name =~ $pattern ]]; then names+=("$name"); fi
  done
  for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    target "$name" &
  done
  wait
  echo "Skipped tests, with their reasons:"
  for name in "${names[@]}"; do
    sed -nE "s/^[^ ]+ (Test|Suite) (.*(\"|\)) skipped.*)/  $name: \2/p" "$scratch/$name.log"
  done
  echo
  printf '%-24s %7s %7s %7s\n' target passed failed skipped
  for name in "${names[@]}"; do
    local log=$scratch/$name.log
    local -a found=()
    for kind in 'passed after [0-9.]+ seconds' 'failed after [0-9.]+ seconds' skipped; do
      found+=("$(grep -cE "^[^ ]+ Test (\".*\"|[A-Za-z0-9_]+\(.*\)) (with [0-9]+ test cases? )?$kind" "$log" || true)")
    done
    printf '%-24s %7d %7d %7d\n' "$name" "${found[@]}"
    passed=$((passed + found[0])) failed=$((failed + found[1])) skipped=$((skipped + found[2]))
  done
  printf '%-24s %7d %7d %7d\n' together "$passed" "$failed" "$skipped"
  if ls "$scratch"/*.failed >/dev/null 2>&1; then
    for name in "$scratch"/*.failed; do
      echo "${name##*/}: ended with $(cat "$name")"
      grep -A 6 -E ' Test .* recorded an issue|Fatal error' "${name%.failed}.log" | cut -c 1-300 | head -40
    done
    exit 1
  fi
}

# Each machine writes files, and reads those of both. The tests of this machine must be built.
parts_exchange() {
  local folder=$scratch/exchange turn
  rm -rf "$folder"
  mkdir -p "$folder"
  native --build-tests >"$scratch/native.log" 2>&1 || { tail -20 "$scratch/native.log"; exit 1; }
  for turn in 1 2; do
    FORWARDING_EXCHANGE=$folder emulated "$debug/swift-forwardingPackageTests.xctest" --testing-library swift-testing \
      --filter OtherMachineTests >"$scratch/exchange.log" 2>&1 || { tail -40 "$scratch/exchange.log"; exit 1; }
    FORWARDING_EXCHANGE=$folder swift test --skip-build "${options[@]}" --filter OtherMachineTests \
      >"$scratch/exchange.log" 2>&1 || { tail -40 "$scratch/exchange.log"; exit 1; }
  done
  [ "$(ls "$folder" | wc -l)" -eq 4 ] || { ls "$folder"; exit 1; }
  echo "exchange: journals and encoded calls of both machines are read on both"
}

parts_matrix() {
  local count=${FORWARDING_SIGNATURES:-3000}
  FORWARDING_SIGNATURES=$count FORWARDING_SEED=${FORWARDING_SEED:-1000} emulated \
    "$debug/swift-forwardingPackageTests.xctest" --testing-library swift-testing --filter CallMatrixTests \
    >"$scratch/matrix.log" 2>&1 || { grep -A 6 'recorded an issue' "$scratch/matrix.log" | head -60; exit 1; }
  echo "matrix: $count random signatures by gcc and by clang, 0 wrong"
}

case ${1:-} in
  '')
    for part in build tool tests exchange matrix; do
      start=$SECONDS
      parts_$part
      echo "$part: $((SECONDS - start)) s"
    done
    echo "AArch64: everything passed ($SECONDS s)."
    ;;
  build | tool | tests | exchange | matrix)
    part=$1
    shift
    parts_"$part" "$@"
    ;;
  *)
    echo "aarch64-swift.sh: there is no part '$1'" >&2
    exit 1
    ;;
esac
