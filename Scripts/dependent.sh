#!/usr/bin/env bash
# Builds a small program that depends on this package as a stranger's would, in release and from nothing, and
# tells what that costs: seconds, and the bytes of the program without symbols. With a number of bytes, fails
# where the program is larger.
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

final class Account {
  var balance: Int32 = 0
  func deposit(_ amount: Int32) { balance += amount }
}

try MethodTable.of(Account.self).register("deposit:", Account.deposit)
let deposit = try Message<Void, Int32>("deposit:")
let account = Account()
let accounts = MulticastProxy()
accounts.add(account)
try deposit(5, on: accounts)
print(account.balance)
END
begin=$(date +%s%N)
swift build -c release --package-path "$folder" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  exit 1
}
end=$(date +%s%N)
program="$folder/.build/release/dependent"
test "$("$program")" = 5
strip -o "$folder/stripped" "$program"
size=$(stat -c %s "$folder/stripped")
echo "A small dependent: built in $(((end - begin) / 1000000)) ms on $(nproc) cores, $size bytes without symbols."
if [ $# -gt 0 ] && [ "$size" -gt "$1" ]; then
  echo "That is more than $1 bytes." >&2
  exit 1
fi
