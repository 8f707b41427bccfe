#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Swift SDK for AArch64 Linux for the Swift that is installed here (6.3, x86-64), of Debian's packages
# alone: libraries and interfaces of Debian's `swiftlang` for arm64, read by the installed compiler.
#   aarch64-sdk.sh <folder>   makes <folder>/debian-arm64.artifactbundle, and <folder>/run, which runs a program
#                             of AArch64 and all that it starts in an emulator
# FORWARDING_SDK_ARCHIVE is an SDK that was made before, as aarch64-sdk.sh packs one with FORWARDING_SDK_PACK=<file>;
# then nothing is downloaded. FORWARDING_SDK_SUITE is the release of Debian (sid). Needs no root, apt's tools,
# dpkg-deb, xz and about 2 GB while it works.
set -euo pipefail
folder=$(mkdir -p "${1:?a folder}" && cd "$1" && pwd)
suite=${FORWARDING_SDK_SUITE:-sid}
triple=aarch64-unknown-linux-gnu
bundle=$folder/debian-arm64.artifactbundle
sysroot=$bundle/arm64/sysroot
library=$sysroot/usr/lib/swift
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
say() { echo "aarch64-sdk: $*"; }

# The parts of an SDK that name a place on this machine.
settle() {
  rm -f "$library/clang"
  # Headers of the compiler belong to the compiler that is here.
  ln -s "$(readlink -f "$toolchain/lib/swift/clang")" "$library/clang"
  printf '{"schemaVersion": "1.0", "rootPath": ".", "swiftCompiler": {"extraCLIOptions": [\n  %s, %s, "%s"]}}\n' \
    '"-use-ld=lld"' '"-load-plugin-library"' "$bundle/arm64/plugins/libTestingMacros.so" >"$bundle/arm64/toolset.json"
  cat >"$folder/run" <<'RUN'
#!/usr/bin/env bash
# run PROGRAM ARGUMENTS…: runs a program of AArch64 in qemu-user. The kernel starts the emulator for each program
# that it starts in turn, as a namespace of its own says (Linux 6.7 or later): nothing of the machine changes.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/debian-arm64.artifactbundle/arm64/sysroot
export QEMU_LD_PREFIX=$root LD_LIBRARY_PATH=$root/usr/lib/swift/linux FORWARDING_EMULATOR=qemu
export FORWARDING_QEMU=${FORWARDING_QEMU:-$(command -v qemu-aarch64-static)}
exec unshare --user --map-root-user --mount bash -c '
  formats=/proc/sys/fs/binfmt_misc
  mount -t binfmt_misc binfmt_misc $formats || exit 125
  magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
  mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
  printf ":aarch64:M::%s:%s:%s:FP" "$magic" "$mask" "$FORWARDING_QEMU" >$formats/register || exit 125
  exec "$@"' run "$@"
RUN
  chmod +x "$folder/run"
}

if [ -n "${FORWARDING_SDK_ARCHIVE:-}" ]; then
  rm -rf "$bundle"
  tar -xJf "$FORWARDING_SDK_ARCHIVE" -C "$folder"
  settle
  say "unpacked $FORWARDING_SDK_ARCHIVE"
  exit
fi

work=$folder/work
mkdir -p "$work"/{lists/partial,cache/archives/partial,packages,source,tree}

# Lists of packages, beside those of the system, from the mirror that the system uses.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -1)
keys=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -1)
{
  echo "deb [arch=arm64 signed-by=$keys] $mirror $suite main"
  echo "deb-src [signed-by=$keys] $mirror $suite main"
} >"$work/sources.list"
apt=(-qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Architecture=arm64
  -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Acquire::Languages=none
  -o Acquire::Check-Valid-Until=false)
apt-get "${apt[@]}" update
gcc=$(apt-cache "${apt[@]}" pkgnames libgcc- | grep -xE 'libgcc-[0-9]+-dev' | tr -dc '0-9\n' | sort -n | tail -1)
(cd "$work/packages" && apt-get "${apt[@]}" download swiftlang libswiftlang libc6 libc6-dev linux-libc-dev \
  libgcc-s1 "libgcc-$gcc-dev" libstdc++6 "libstdc++-$gcc-dev" libffi8 libffi-dev)
(cd "$work/source" && apt-get "${apt[@]}" source --download-only --tar-only swiftlang)
say "downloaded $(du -sm "$work" | cut -f1) MB"

# The root of the system, with Swift's libraries and modules in usr/lib/swift.
rm -rf "$bundle"
mkdir -p "$sysroot/usr/lib" "$bundle/arm64/plugins"
ln -s usr/lib "$sysroot/lib"  # where libc.so says that the loader is
for package in "$work"/packages/*.deb; do
  name=${package##*/}
  case $name in
    swiftlang_*)
      dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/tree" --wildcards --exclude='*/host/*' \
        --exclude='*/embedded/*' './usr/libexec/swift/lib/swift/*' ;;
    libswiftlang_*) dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/tree" --exclude='*/host/*' ;;
    *) dpkg-deb --fsys-tarfile "$package" | tar -x -C "$sysroot" --exclude='./usr/share/*' --exclude='./lib/*' ;;
  esac
done
mv "$work/tree/usr/libexec/swift/lib/swift" "$library"
for unused in clang migrator FrameworkABIBaseline pm embedded swiftToCxx _InternalSwiftScan \
  linux/FoundationNetworking.swiftmodule linux/FoundationXML.swiftmodule; do
  rm -rf "${library:?}/$unused"
done
# Debian has no library for what Testing adds to Foundation.
rm -rf "$library/linux/Testing.swiftcrossimport" "$library/linux/_Testing_Foundation.swiftmodule"
settle

# A compiler refuses the binary modules of another version, and reads interfaces where there are no binary modules.
# Dispatch, Foundation and XCTest have no interfaces: their modules are emitted from the sources of the libraries.
find "$library/linux" -type f \( -name '*.swiftmodule' -o -name '*.swiftdoc' \) -delete
parts=(swift-foundation swift-corelibs-foundation swift-corelibs-libdispatch swift-corelibs-xctest swift-testing
  swift-collections)
cd "$work/source"
tar -xf swiftlang_*.orig.tar.xz --strip-components=1 --wildcards "${parts[@]/#/*/}" --exclude='*/swift-testing/Tests/*'

# The Swift files that a folder's CMake lists name, quoted as a response file wants them.
listed() {
  local list file
  find "$1" -name CMakeLists.txt | while read -r list; do
    tr -d '\\"' <"$list" | { grep -oE '^ *[A-Za-z0-9_+./ -]+\.swift' || true; } | while read -r file; do
      [ ! -f "${list%/*}/$file" ] || echo "\"${list%/*}/$file\""
    done
  done | sort -u
}
# Emits a module from the files of the standard input: emit <module> <option>...
emit() {
  local module=$1
  shift
  mkdir -p "$library/linux/$module.swiftmodule"
  cat >"$work/$module.files"
  swiftc -target "$triple" -sdk "$sysroot" -resource-dir "$library" -module-cache-path "$work/modules" \
    -emit-module -parse-as-library -wmo -O -suppress-warnings -avoid-emit-module-source-info \
    -Xfrontend -experimental-skip-non-inlinable-function-bodies -module-name "$module" \
    -emit-module-path "$library/linux/$module.swiftmodule/$triple.swiftmodule" "$@" "@$work/$module.files" \
    >"$work/$module.log" 2>&1 || { say "cannot emit $module"; grep -a error: "$work/$module.log" | head -5; exit 1; }
}
# Options for features: features <kind> <name>..., one option a line
features() {
  local kind=$1 name
  shift
  for name in "$@"; do printf '%s\n' -Xfrontend "-enable-$kind-feature" -Xfrontend "$name"; done
}
mapfile -t previews < <(for version in 6.0.2 6.1 6.2 6.3; do
  features experimental "AvailabilityMacro=FoundationPreview $version:macOS 15, iOS 18, tvOS 18, watchOS 11"
done)
mapfile -t common < <(features experimental AccessLevelOnImport StrictConcurrency
  features upcoming InferSendableFromCaptures MemberImportVisibility)
mapfile -t essentials < <(features experimental VariadicGenerics LifetimeDependence AddressableTypes BuiltinModule)
dispatch=swift-corelibs-libdispatch/src/swift
listed $dispatch | emit Dispatch -module-link-name swiftDispatch -swift-version 5 -Xcc -fblocks \
  -Xcc "-I$dispatch/shims" -Xcc "-fmodule-map-file=$dispatch/shims/module.modulemap"
for part in InternalCollectionsUtilities OrderedCollections RopeModule; do
  listed swift-collections/Sources/$part
done | emit _FoundationCollections -D COLLECTIONS_SINGLE_MODULE -swift-version 5
listed swift-foundation/Sources/FoundationEssentials | emit FoundationEssentials \
  -module-link-name FoundationEssentials -package-name SwiftFoundation -swift-version 6 -Xcc -D_GNU_SOURCE \
  "${essentials[@]}" "${common[@]}" "${previews[@]}"
listed swift-foundation/Sources/FoundationInternationalization | emit FoundationInternationalization \
  -module-link-name FoundationInternationalization -package-name SwiftFoundation -swift-version 6 \
  "${common[@]}" "${previews[@]}"
listed swift-corelibs-foundation/Sources/Foundation | emit Foundation -module-link-name Foundation -swift-version 6 \
  -DDEPLOYMENT_RUNTIME_SWIFT -DSWIFT_CORELIBS_FOUNDATION_HAS_THREADS -Xfrontend -require-explicit-sendable -Xcc -fblocks
find swift-corelibs-xctest/Sources/XCTest -name '*.swift' | sed 's/.*/"&"/' | emit XCTest -module-link-name XCTest \
  -swift-version 5

# The macros of Swift Testing must fit its library, so they are built from its sources, with the compiler's SwiftSyntax.
# Its library has exit tests that capture values; its interface does not tell.
host=$toolchain/lib/swift/host
swiftc -emit-library -module-name TestingMacros -O -wmo -swift-version 6 -package-name org.swift.testing \
  -suppress-warnings -D ExperimentalExitTestValueCapture -enable-experimental-feature AccessLevelOnImport \
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
  -enable-upcoming-feature MemberImportVisibility -I "$host" -L "$host" -Xlinker -rpath -Xlinker "$host" \
  -module-cache-path "$work/modules-host" $(find swift-testing/Sources/TestingMacros -name '*.swift') \
  -o "$bundle/arm64/plugins/libTestingMacros.so"
interface=$library/linux/Testing.swiftmodule/$triple.swiftinterface
grep -q encodingCapturedValues "$interface" || sed -i -E '/^public func __checkClosureCall\(identifiedBy exitTestID/{
p
s/__checkClosureCall\(/__checkClosureCall<each T>(/
s/processExitsWith expected/encodingCapturedValues capturedValues: repeat each T, processExitsWith expected/
s/$/ where repeat each T : Swift.Decodable, repeat each T : Swift.Encodable, repeat each T : Swift.Sendable/
}' "$interface"

cat >"$bundle/info.json" <<JSON
{"schemaVersion": "1.0", "artifacts": {"debian-arm64": {"type": "swiftSDK", "version": "1", "variants": [
  {"path": "arm64", "supportedTriples": ["x86_64-unknown-linux-gnu"]}]}}}
JSON
cat >"$bundle/arm64/swift-sdk.json" <<JSON
{"schemaVersion": "4.0", "targetTriples": {"$triple": {
  "sdkRootPath": "sysroot", "swiftResourcesPath": "sysroot/usr/lib/swift", "toolsetPaths": ["toolset.json"]}}}
JSON
rm -rf "$work"
say "made $bundle, $(du -sm "$bundle" | cut -f1) MB"
if [ -n "${FORWARDING_SDK_PACK:-}" ]; then
  tar -c -C "$folder" debian-arm64.artifactbundle | xz -3 >"$FORWARDING_SDK_PACK"
fi
