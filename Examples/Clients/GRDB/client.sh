#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GRDB.swift as a client: Scripts/clients.sh says what the commands mean.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$1
folder=${2:-}
# Debian's SQLite has no snapshots, but GRDB refers to their functions. No test and no benchmark calls them.
link=(-Xlinker "$folder/../snapshots.o")

case $command in
  about)
    echo 'folder GRDB.swift'
    echo 'repository https://github.com/groue/GRDB.swift.git'
    echo 'commit 18497b68fdbb3a09528d260a0a0e1e7e61c8c53d'
    echo 'packages libsqlite3-dev'
    ;;
  prepare)
    for name in get open free cmp; do
      echo "int sqlite3_snapshot_$name(void) { __builtin_trap(); }"
    done >"$folder/../snapshots.c"
    cc -c -o "$folder/../snapshots.o" "$folder/../snapshots.c"
    # Other test files need CoreGraphics or Combine.
    tests='"GRDBTestCase.swift", "TransactionObserverTests.swift", "TransactionObserverSavepointsTests.swift",'
    tests="$tests \"RecordMinimalPrimaryKeyRowIDTests.swift\""
    sed -i -e "s|path: \"Tests\",|path: \"Tests/GRDBTests\", sources: [$tests],|" \
      -e '/^            exclude: \[$/,/^            \],$/d' \
      -e '/^            resources: \[$/,/^            \],$/d' "$folder/Package.swift"
    cp -R "$here/Benchmark" "$folder/../benchmark"
    ;;
  tests)
    swift build --package-path "$folder" --build-tests "${link[@]}"
    swift test --package-path "$folder" --skip-build "${link[@]}" --filter TransactionObserver |
      tee "$folder/../tests.log" || true
    sed -nE 's/.*Executed ([0-9]+) tests?, with ([0-9]+) failures?.*/\1 \2/p' "$folder/../tests.log" | tail -1 |
      while read -r all failed; do echo "tests $((all - failed)) $all"; done
    ;;
  bench)
    swift build --package-path "$folder/../benchmark" -c release "${link[@]}"
    "$folder/../benchmark/.build/release/benchmark"
    ;;
esac
