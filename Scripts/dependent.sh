#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds small programs that depend on this package as a user's program does, from an empty build folder:
#   1. a program with one proxy in release, by the package's folder. Prints the size of the program without
#      symbols, and the processor time of the build as a multiple of the time that the compiler takes for a
#      program that does not change. Fails past the limits: dependent.sh BYTES MULTIPLE.
#   2. by a tag of the git repository, as the README shows; and with `traits: []`.
#   3. with the trait NATS on a machine without libnats.
set -eu
cd "$(dirname "$0")/.."
package=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/Sources/dependent"
cat >"$folder/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "dependent",
  dependencies: [.package(name: "swift-forwarding", path: "$package")],
  targets: [
    .executableTarget(
      name: "dependent", dependencies: [.product(name: "Forwarding", package: "swift-forwarding")])
  ])
END

cat >"$folder/Sources/dependent/main.swift" <<'END'
import Forwarding

@Forwardable protocol Listening: AnyObject { func heard(_ amount: Int32) }
final class Account: Listening {
  var balance: Int32 = 0
  func heard(_ amount: Int32) { balance += amount }
}
let listeners = Multicast<ListeningProxy>()
let account = Account()
listeners.add(account)
listeners.proxy.heard(5)
print(account.balance)
END

# The measure of time: structures with generic functions, compiled alone. Its text must not change.
mkdir "$folder/measure"
for number in $(seq 60); do
  cat <<END
public struct Part$number: Hashable {
  public var words: [String]
  public var sums: [Int: Double]
  public func sorted<Items: Sequence>(_ items: Items) -> [Items.Element] where Items.Element: Comparable {
    items.sorted().filter { item in items.contains { \$0 > item } }
  }
  public mutating func add(_ count: Int) {
    for number in 0..<count {
      sums[number, default: 0] += Double($number)
      words.append("\(number) of \(count)")
    }
  }
}
END
done >"$folder/measure/Parts.swift"

# Runs a command, and prints the milliseconds of processor time that it took: timed COMMAND…
timed() {
  local TIMEFORMAT='%U %S'
  { time "$@" >"$folder/log" 2>&1; } 2>"$folder/time" || {
    cat "$folder/log" >&2
    return 1
  }
  awk '{ printf "%d", ($1 + $2) * 1000 }' "$folder/time"
}
measure() {
  timed swiftc -O -whole-module-optimization -parse-as-library -emit-library -module-name Parts \
    -o "$folder/measure/libParts.so" "$folder/measure/Parts.swift"
}
# Before and after, as the speed of the machine changes.
before=$(measure)
built=$(timed swift build -c release --package-path "$folder")
after=$(measure)
program="$folder/.build/release/dependent"
test "$("$program")" = 5
strip -o "$folder/stripped" "$program"
size=$(stat -c %s "$folder/stripped")
multiple=$(awk "BEGIN { printf \"%.1f\", 2 * $built / ($before + $after) }")
echo "A program with a proxy: $size bytes without symbols; built in $built ms of processor time, $multiple times the" \
  "measure ($before and $after ms)."
if [ $# -gt 0 ] && [ "$size" -gt "$1" ]; then
  echo "That is more than $1 bytes." >&2
  exit 1
fi
if [ $# -gt 1 ] && awk "BEGIN { exit !($multiple > $2) }"; then
  echo "That is more than $2 times." >&2
  exit 1
fi

# The committed files, under a tag: SwiftPM restricts a package that is fetched by a tag more than one in a
# folder.
git clone -q --no-hardlinks "$package" "$folder/swift-forwarding"
git -C "$folder/swift-forwarding" -c user.name=dependent -c user.email=dependent@example.com tag -a 0.0.1 -m 0.0.1

# Builds the program by the tag, and compares its output: expect <what> <traits> <output>
expect() {
  sed -i "s#\.package(.*)\],#.package(url: \"file://$folder/swift-forwarding\", from: \"0.0.1\"$2)],#" \
    "$folder/Package.swift"
  swift build --package-path "$folder" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
  }
  "$folder/.build/debug/dependent" >"$folder/said"
  grep -qx "$3" "$folder/said" || {
    cat "$folder/said"
    exit 1
  }
  echo "By a tag, $1: built, and says what it should."
}
expect 'as the README shows it' '' 5
cat >"$folder/Sources/dependent/main.swift" <<'END'
import Forwarding
print(try Message<Void, Int32>("deposit:").selector)
END
expect 'without traits' ', traits: []' deposit:

# Without libnats, the trait NATS says what to install. The option stands for a machine without it.
if swift build --package-path "$folder/swift-forwarding" --target ForwardingNATS --traits NATS \
  -Xcc -DFWD_WITHOUT_LIBNATS >"$folder/log" 2>&1; then
  echo "The trait NATS was built without libnats." >&2
  exit 1
fi
grep -q 'the trait NATS needs libnats and its headers (apt-get install libnats-dev)' "$folder/log" || {
  cat "$folder/log"
  exit 1
}
echo "Without libnats, the trait NATS says what to install."
