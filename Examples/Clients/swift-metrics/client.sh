#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# swift-metrics as a client: Scripts/clients.sh says what the commands mean.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$1
folder=${2:-}

case $command in
  about)
    echo 'folder swift-metrics'
    echo 'repository https://github.com/apple/swift-metrics.git'
    echo 'commit d51c8d13fa366eec807eedb4e37daa60ff5bfdd5'
    ;;
  prepare) cp -R "$here/Benchmark" "$folder/../benchmark" ;;
  tests)
    swift build --package-path "$folder" --build-tests
    swift test --package-path "$folder" --skip-build 2>&1 | tee "$folder/../tests.log" || true
    # Some tests are of XCTest, the others of Swift Testing.
    awk '
      /^.*Test run with [0-9]+ test/ { match($0, /with [0-9]+ test/); all += substr($0, RSTART + 5, RLENGTH - 10) }
      / Test ".*" failed after| Test .*\(\) failed after/ { failed++ }
      /Executed [0-9]+ tests?, with [0-9]+ failures?/ { last = $0 }
      END {
        if (last != "") {
          match(last, /Executed [0-9]+/); all += substr(last, RSTART + 9, RLENGTH - 9)
          match(last, /with [0-9]+/); failed += substr(last, RSTART + 5, RLENGTH - 5)
        }
        print "tests", all - failed, all
      }' "$folder/../tests.log"
    ;;
  bench)
    swift build --package-path "$folder/../benchmark" -c release
    "$folder/../benchmark/.build/release/benchmark"
    ;;
esac
