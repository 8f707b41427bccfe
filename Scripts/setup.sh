#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs missing Debian packages that the build needs.
#   setup.sh          packages for building
#   setup.sh test     and for the tests: a C compiler of the system, SQLite and GLib
#   setup.sh check    and for 'make check': spin, readelf, gcc, and chromium, which a test uses to read the page of
#                     charts as it is drawn (no other mode installs it, because it is large)
#   setup.sh aarch64  packages for Scripts/aarch64.sh: a compiler, libraries and an emulator of AArch64
#   setup.sh aarch64-swift   those for Scripts/aarch64-swift.sh: a compiler, an emulator that is one file, and xz
#   setup.sh docs     packages for 'make docs': the headers of all libraries that are documented
#   setup.sh clients  libraries that the clients of Scripts/clients.sh need
#   setup.sh nats     libnats, a NATS server and openssl, for calls to other processes
#   setup.sh bench    the libraries that the benchmarks compare with; all are optional
set -eu

say() { printf 'setup: %s\n' "$*" >&2; }

mode="${1:-}"
case "$mode" in
  '' | test | check | aarch64 | aarch64-swift | clients | docs | bench | nats) ;;
  *)
    say "there is no mode '$mode'; modes are test, check, aarch64, aarch64-swift, clients, docs, nats and bench"
    exit 1
    ;;
esac

if ! command -v swift >/dev/null 2>&1; then
  say "there is no 'swift' in PATH; install the Swift 6.3 toolchain or later from swift.org"
  exit 1
fi

# The toolchain's own clang is beside its swift. Only swift may be linked into PATH.
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
[ -x "$clang" ] || clang=clang
has_header() { printf '#include <%s>\n' "$1" | "$clang" -E -x c - >/dev/null 2>&1; }
has_library() { PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep -q "$1"; }
has_browser() {
  for name in chromium chromium-browser google-chrome chrome; do
    command -v "$name" >/dev/null 2>&1 && return 0
  done
  return 1
}

missing=()
if ! has_header ffi.h; then missing+=(libffi-dev); fi
if [ "$mode" = test ] || [ "$mode" = check ]; then
  command -v cc >/dev/null 2>&1 || missing+=(gcc libc6-dev)
  has_library libsqlite3.so.0 || missing+=(libsqlite3-0)
  has_library libglib-2.0.so.0 || missing+=(libglib2.0-0)
fi
if [ "$mode" = check ]; then
  command -v spin >/dev/null 2>&1 || missing+=(spin)
  command -v readelf >/dev/null 2>&1 || missing+=(binutils)
  command -v gcc >/dev/null 2>&1 || missing+=(gcc libc6-dev)
  has_browser || missing+=(chromium)
  # Serves the documentation to the browser.
  command -v python3 >/dev/null 2>&1 || missing+=(python3)
fi
if [ "$mode" = docs ]; then has_header nats/nats.h || missing+=(libnats-dev); fi
if [ "$mode" = aarch64 ]; then
  command -v qemu-aarch64 >/dev/null 2>&1 || missing+=(qemu-user)
  command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || missing+=(gcc-aarch64-linux-gnu)
  [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing+=(libc6-dev-arm64-cross)
  [ -e /usr/include/aarch64-linux-gnu/ffi.h ] || missing+=(libffi-dev:arm64)
fi
if [ "$mode" = aarch64-swift ]; then
  command -v qemu-aarch64-static >/dev/null 2>&1 || missing+=(qemu-user-static)
  command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || missing+=(gcc-aarch64-linux-gnu)
  [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing+=(libc6-dev-arm64-cross)
  command -v xz >/dev/null 2>&1 || missing+=(xz-utils)
fi
if [ "$mode" = clients ]; then
  command -v cc >/dev/null 2>&1 || missing+=(gcc libc6-dev)
  has_header sqlite3.h || missing+=(libsqlite3-dev)
  ls /usr/include/python3*/Python.h >/dev/null 2>&1 || missing+=(libpython3-dev)
fi
if [ "$mode" = nats ]; then
  has_header nats/nats.h || missing+=(libnats-dev)
  # The places where the tests look for it.
  [ -x /usr/sbin/nats-server ] || [ -x /usr/local/bin/nats-server ] || [ -x /usr/bin/nats-server ] ||
    missing+=(nats-server)
  # Tests of TLS create their certificates with openssl.
  command -v openssl >/dev/null 2>&1 || missing+=(openssl)
fi
is_optional=no
if [ "$mode" = bench ] && [ "${#missing[@]}" -eq 0 ]; then
  is_optional=yes
  command -v valgrind >/dev/null 2>&1 || missing+=(valgrind)
  [ -e /usr/include/GNUstep/Foundation/Foundation.h ] || missing+=(gobjc libgnustep-base-dev)
  [ -e /usr/include/glib-2.0/glib-object.h ] || missing+=(libglib2.0-dev)
  [ -e /usr/include/boost/signals2.hpp ] || missing+=(libboost-dev)
  has_header sqlite3.h || missing+=(libsqlite3-dev)
  has_header systemd/sd-bus.h || missing+=(libsystemd-dev)
  [ -e /usr/include/x86_64-linux-gnu/qt5/QtCore/QSignalMapper ] || missing+=(qtbase5-dev)
  has_header nats/nats.h || missing+=(libnats-dev)
  [ -x /usr/sbin/nats-server ] || missing+=(nats-server)
  # Outside programs, which pass text to C.
  python3 -c 'import cffi' 2>/dev/null || missing+=(python3-cffi)
  ruby -rffi -e 0 2>/dev/null || missing+=(ruby-ffi)
fi
[ "${#missing[@]}" -eq 0 ] && exit 0

by_hand() {
  say "$1"
  if [ "$is_optional" = yes ]; then
    say "going on without: ${missing[*]}"
    exit 0
  fi
  say "install by hand, then run the same command again: ${missing[*]}"
  [ "$mode" != aarch64 ] || say "  first:           sudo dpkg --add-architecture arm64 && sudo apt-get update"
  say "  Debian, Ubuntu:  sudo apt-get install ${missing[*]}"
  exit 1
}

command -v apt-get >/dev/null 2>&1 || by_hand "there is no apt-get here"
if [ "$(id -u)" -eq 0 ]; then
  sudo=()
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo=(sudo)
else
  by_hand "installing needs root, and sudo asks for a password"
fi
say "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
if [ "$mode" = aarch64 ] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
  "${sudo[@]}" dpkg --add-architecture arm64
fi
if ! "${sudo[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null 2>&1; then
  "${sudo[@]}" apt-get update -qq || by_hand "apt-get update failed"
  "${sudo[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null || by_hand "apt-get install failed"
fi
say "done"
