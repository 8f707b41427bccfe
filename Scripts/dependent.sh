#!/usr/bin/env bash
# Builds small programs that depend on this package as a user's program does, from an empty build folder:
#   1. in release, by the package's folder. Prints the build time in milliseconds and the size of the program
#      without symbols. With a number of bytes as argument, fails if the program is larger.
#   2. by a tag of the git repository, with the trait Macros, as the README shows; and once without traits.
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

# The committed files, under a tag: SwiftPM restricts a package that is fetched by a tag more than one in a
# folder.
git clone -q --no-hardlinks "$package" "$folder/tagged"
git -C "$folder/tagged" -c user.name=dependent -c user.email=dependent@example.com tag -a 0.0.1 -m 0.0.1
mkdir -p "$folder/face/Sources/face"
cat >"$folder/face/Sources/face/main.swift" <<'END'
import Forwarding

#if Faces
  @Forwardable protocol Listening: AnyObject { func heard(_ amount: Int32) }
  final class Account: Listening {
    var balance: Int32 = 0
    func heard(_ amount: Int32) { balance += amount }
  }
  let listeners = Multicast<ListeningProxy>()
  let account = Account()
  listeners.add(account)
  listeners.face.heard(5)
  print(account.balance)
#else
  print(try Message<Void, Int32>("deposit:").selector)
#endif
END
for traits in '"Macros"' ''; do
  settings=''
  if [ -n "$traits" ]; then settings='.define("Faces")'; fi
  cat >"$folder/face/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "face",
  dependencies: [.package(url: "file://$folder/tagged", from: "0.0.1", traits: [$traits])],
  targets: [
    .executableTarget(
      name: "face", dependencies: [.product(name: "Forwarding", package: "tagged")],
      swiftSettings: [$settings])
  ])
END
  swift build --package-path "$folder/face" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
  }
  "$folder/face/.build/debug/face" >"$folder/said"
  grep -qx "$([ -n "$traits" ] && echo 5 || echo deposit:)" "$folder/said" || {
    cat "$folder/said"
    exit 1
  }
  echo "By a tag, ${traits:-without traits}: built, and says what it should."
done
