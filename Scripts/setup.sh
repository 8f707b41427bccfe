#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs missing Debian packages: those of the build, and those of the given parts.
#   test      a C compiler of the system, SQLite and GLib
#   check     spin, readelf and gcc
#   aarch64   a compiler, libraries and an emulator of AArch64
#   nats      libnats, a NATS server and openssl, for calls to other processes
#   bench     the libraries that the benchmarks compare with; all are optional
set -eu

say() { printf 'setup: %s\n' "$*" >&2; }

if ! command -v swift >/dev/null 2>&1; then
  say "there is no 'swift' in PATH; install the Swift 6.3 toolchain or later from swift.org"
  exit 1
fi

# The toolchain's own clang is beside its swift. Only swift may be linked into PATH.
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
[ -x "$clang" ] || clang=clang
has_header() { printf '#include <%s>\n' "$1" | "$clang" -E -x c - >/dev/null 2>&1; }
has_library() { PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep -q "$1"; }
has_command() { PATH="$PATH:/usr/local/bin:/usr/sbin" command -v "$1" >/dev/null 2>&1; }

missing=()
# Adds packages, unless a command succeeds: need <package>... -- <command>...
need() {
  local packages=()
  while [ "$1" != -- ]; do packages+=("$1"); shift; done
  shift
  "$@" || missing+=("${packages[@]}")
}
need libffi-dev -- has_header ffi.h
optional=no
for part in "$@"; do
  case "$part" in
    test)
      need gcc libc6-dev -- has_command cc
      need libsqlite3-0 -- has_library libsqlite3.so.0
      need libglib2.0-0 -- has_library libglib-2.0.so.0
      need libexpat1 -- has_library libexpat.so.1
      need libcurl4 -- has_library libcurl.so.4
      ;;
    check)
      need spin -- has_command spin
      need binutils -- has_command readelf
      need gcc libc6-dev -- has_command gcc
      ;;
    aarch64)
      need qemu-user-static -- has_command qemu-aarch64-static
      need gcc-aarch64-linux-gnu -- has_command aarch64-linux-gnu-gcc
      need libc6-dev-arm64-cross -- test -e /usr/aarch64-linux-gnu/include/stdio.h
      need libffi-dev:arm64 -- test -e /usr/include/aarch64-linux-gnu/ffi.h
      need xz-utils -- has_command xz
      ;;
    nats)
      need libnats-dev -- has_header nats/nats.h
      need nats-server -- has_command nats-server
      # Tests of TLS create their certificates with openssl.
      need openssl -- has_command openssl
      ;;
    bench)
      # What is missing before is no option.
      [ "${#missing[@]}" -gt 0 ] || optional=yes
      need valgrind -- has_command valgrind
      need gobjc libgnustep-base-dev -- test -e /usr/include/GNUstep/Foundation/Foundation.h
      need libffcall-dev -- has_header ffcall-version.h
      need libluajit-5.1-2 -- has_library libluajit-5.1.so.2
      need libpython3-dev -- has_library libpython3
      need python3-cffi -- test -e /usr/lib/python3/dist-packages/cffi
      ;;
    *)
      say "there is no part '$part'; parts are test, check, aarch64, nats and bench"
      exit 1
      ;;
  esac
done
[ "${#missing[@]}" -gt 0 ] || exit 0

by_hand() {
  say "$1"
  if [ "$optional" = yes ]; then
    say "going on without: ${missing[*]}"
    exit 0
  fi
  say "install by hand, then run the same command again: ${missing[*]}"
  case "${missing[*]}" in
    *:arm64*) say "  first:           sudo dpkg --add-architecture arm64 && sudo apt-get update" ;;
  esac
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
case "${missing[*]}" in
  *:arm64*) "${sudo[@]}" dpkg --add-architecture arm64 ;;
esac
if ! "${sudo[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null 2>&1; then
  "${sudo[@]}" apt-get update -qq || by_hand "apt-get update failed"
  "${sudo[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null || by_hand "apt-get install failed"
fi
say "done"
