#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# PythonKit as a client: Scripts/clients.sh says what the commands mean.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$1
folder=${2:-}

case $command in
  about)
    echo 'folder PythonKit'
    echo 'repository https://github.com/pvieito/PythonKit.git'
    echo 'commit d030b5193d1e4e770156deb27865773b64c5695f'
    echo 'packages libpython3-dev'
    ;;
  prepare) cp -R "$here/Benchmark" "$folder/../benchmark" ;;
  tests)
    swift build --package-path "$folder" --build-tests
    # testErrors fails with Python 3.11, before and after.
    swift test --package-path "$folder" --skip-build 2>&1 | tee "$folder/../tests.log" || true
    sed -nE 's/.*Executed ([0-9]+) tests?, with ([0-9]+) failures?.*/\1 \2/p' "$folder/../tests.log" | tail -1 |
      while read -r all failed; do echo "tests $((all - failed)) $all"; done
    ;;
  bench)
    # The benchmark calls functions that PythonKit has for itself.
    swift build --package-path "$folder/../benchmark" -c release -Xswiftc -enable-testing
    "$folder/../benchmark/.build/release/benchmark"
    ;;
esac
