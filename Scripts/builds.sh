#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library in the ways that users build it: with library evolution, for a binary framework whose clients
# may be of another version; and unchecked.
set -eu
cd "$(dirname "$0")/.."
# The toolchain's own Dispatch is not built with library evolution on Linux, and the compiler warns about
# that, so its warnings are no errors here.
swift build --target Forwarding --scratch-path .build/evolution -Xcc -Werror -Xswiftc -enable-library-evolution
# shellcheck disable=SC2046
swift build --target Forwarding --scratch-path .build/unchecked -c release -Xswiftc -Ounchecked \
  $(cat Scripts/strict.flags)
