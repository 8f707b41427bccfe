#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# aarch64-swift.sh         builds the package for AArch64 Linux on a machine with another processor, and runs the tool
#                          in an emulator
# aarch64-swift.sh tests   runs the tests of the core there, too
# FORWARDING_SDK is the archive of a Swift SDK of Debian's libraries for arm64; without one
# this is skipped, as making one would download 750 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
archive=${FORWARDING_SDK:-}
if [ ! -e "$archive" ]; then
  echo "aarch64-swift: skipped, as FORWARDING_SDK names no archive of an SDK"
  exit
fi
Scripts/setup.sh aarch64
triple=aarch64-unknown-linux-gnu
scratch=$PWD/.build/aarch64
sdk=$scratch/sdk
bundle=$sdk/debian-arm64.artifactbundle/arm64
sysroot=$bundle/sysroot
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")

if [ ! -e "$sysroot" ] || [ "$archive" -nt "$sdk/unpacked" ]; then
  mkdir -p "$sdk"
  tar -xJf "$archive" -C "$sdk"
  # Headers of the compiler belong to the compiler that is here, and the tool set has its own place.
  ln -sfn "$(readlink -f "$toolchain/lib/swift/clang")" "$sysroot/usr/lib/swift/clang"
  sed -i "s#@BUNDLE@#$bundle#" "$bundle/toolset.json"
  touch "$sdk/unpacked"
fi

build() {
  PKG_CONFIG_PATH=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig swift build --swift-sdks-path "$sdk" \
    --swift-sdk debian-arm64 --scratch-path "$scratch" "$@" >"$scratch/build.log" 2>&1 ||
    { grep -A 5 'error:' "$scratch/build.log" | head -80; exit 1; }
}

# Compilers for tests that start one: they run here, and make code for AArch64.
tools=$scratch/tools
mkdir -p "$tools"
compiler() {
  local name=$1
  shift
  printf '#!/bin/sh\nexec env -u LD_LIBRARY_PATH -u QEMU_LD_PREFIX %s "$@"\n' "$*" >"$tools/$name"
  chmod +x "$tools/$name"
}
compiler cc aarch64-linux-gnu-gcc
compiler clang "$toolchain/bin/clang" --target=$triple "--sysroot=$sysroot" -fuse-ld=lld
compiler swiftc "$toolchain/bin/swiftc" -target $triple -sdk "$sysroot" -resource-dir "$sysroot/usr/lib/swift" \
  -use-ld=lld

# Runs a program in qemu-user. The kernel starts the emulator for each program that it starts in turn, as a
# namespace of its own says (Linux 6.7 or later): nothing of the machine changes.
emulated() {
  QEMU_LD_PREFIX=$sysroot LD_LIBRARY_PATH=$sysroot/usr/lib/swift/linux FORWARDING_EMULATOR=qemu NO_COLOR=1 \
    PATH=$tools:$PATH FORWARDING_HISTORIES=100 FORWARDING_SIGNATURES=300 FORWARDING_SECONDS=1 \
    unshare --user --map-root-user --mount bash -c '
      # The emulator would write a core file for each process that a test ends.
      ulimit -c 0
      mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || exit 125
      magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
      mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
      printf ":aarch64:M::%s:%s:%s:FP" "$magic" "$mask" "$(command -v qemu-aarch64-static)" \
        >/proc/sys/fs/binfmt_misc/register || exit 125
      exec "$@"' run "$@"
}

build
echo "aarch64-swift: the products are built ($SECONDS s)"
built=$scratch/$triple/debug

# Compares the output of the tool with a text: shows <expected> <argument>...
shows() {
  local expected=$1 output
  shift
  output=$(emulated "$built/forward" "$@") || { echo "forward $*: ended with $?: $output"; exit 1; }
  [[ $output == *"$expected"* ]] || { echo "forward $*: '$expected' is not in: $output"; exit 1; }
}
shows ' checks passed.' doctor
shows 1024 call libm.so.6 pow ddd 2 10
shows 0.1 call libm.so.6 fabsl DD -0.1
shows v0:v1:v2:v3 explain 'v@:{CGRect={CGPoint=dd}{CGSize=dd}}i'

if [ "${1:-}" != tests ]; then
  echo "aarch64-swift: the tool runs ($SECONDS s)"
  exit
fi
build --build-tests

# What a test skips here, it prints with its reason.
emulated timeout 1200 "$built/swift-forwardingPackageTests.xctest" --testing-library swift-testing \
  --filter '^(TypeEncodings|Invocations|InvocationText|Forwarding)Tests\.' >"$scratch/tests.log" 2>&1 || {
  grep -A 6 -E ' Test .* recorded an issue|Fatal error' "$scratch/tests.log" | cut -c 1-300 | head -60
  tail -3 "$scratch/tests.log"
  exit 1
}
grep ' skipped' "$scratch/tests.log" | cut -c 1-160 || true
tail -1 "$scratch/tests.log"
echo "aarch64-swift: everything passed ($SECONDS s)"
