#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several images that contain this package in one process, as with plug-ins: two libraries that each contain
# the whole package, in either scope of dlopen; and two that share a dynamic library of it.
set -eu
cd "$(dirname "$0")/.."
# A separate folder, made anew: objects of deleted source files would be linked as well.
rm -rf .build/images
# shellcheck disable=SC2046
swift build --target Forwarding --scratch-path .build/images $(cat Scripts/strict.flags)
build=$(swift build --show-bin-path --scratch-path .build/images)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
objects=("$build"/{Forwarding,Invocations,TypeEncodings}.build/*.o "$build"/CForwardingShims.build/*/*.o)

# Code that the compiler inlined into a client uses the same data as the functions. Every image must bind both
# to one definition, so no data may be hidden. The page of trampolines is code, and may be.
hidden=$(readelf -Ws "${objects[@]}" 2>/dev/null |
  awk '($4 == "OBJECT" || $4 == "TLS") && $6 == "HIDDEN" && $8 ~ /^fwd_/ { print $8 }' |
  grep -vx fwd_trampoline_page | sort -u || true)
if [ -n "$hidden" ]; then
  echo "images.sh: hidden data that another image's code would miss: $hidden" >&2
  exit 1
fi

compile() {
  swiftc -swift-version 6 -O -parse-as-library -emit-library Tests/Images/PlugIn.swift \
    -I "$build/Modules" -I CShims/CallShims/include "$@"
}
cc -o "$folder/host" Tests/Images/host.c -ldl -pthread
for name in One Two; do
  compile -module-name "$name" -o "$folder/$name.so" "${objects[@]}" -lffi
done
swiftc -emit-library -o "$folder/libShared.so" "${objects[@]}" -lffi -Xlinker -soname=libShared.so
for name in Three Four; do
  compile -module-name "$name" -o "$folder/$name.so" -L "$folder" -lShared -Xlinker -rpath="$folder"
done
for scope in local global; do
  "$folder/host" $scope "$folder"/{One,Two}.so
  "$folder/host" $scope "$folder"/{Three,Four}.so
  "$folder/host" $scope "$folder"/{One,Three}.so
done
echo "Images: all sums are right."
