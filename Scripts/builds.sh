#!/usr/bin/env bash
# Builds the library in the ways that others build it: with library evolution, for a binary that
# clients of another version may use, without any trait; and unchecked, with the trait `Macros`.
set -eu
cd "$(dirname "$0")/.."
# The toolchain's own Dispatch was not built with it on Linux, of which the compiler warns.
swift build --target Forwarding --scratch-path .build/evolution \
  -Xswiftc -enable-library-evolution -Xswiftc -no-warnings-as-errors
swift build --traits Macros --target Forwarding --scratch-path .build/unchecked -c release -Xswiftc -Ounchecked
