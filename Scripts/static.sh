#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library with the installed SDK for static Linux programs (musl). Fails, with a sentence, without one.
set -eu
cd "$(dirname "$0")/.."
sdk=$(swift sdk list 2>/dev/null | grep -m1 'static-linux' || true)
if [ -z "$sdk" ]; then
  echo "static.sh: no SDK for static Linux programs is installed (swift sdk install, see swift.org)" >&2
  exit 1
fi
# shellcheck disable=SC2046
swift build --swift-sdk "$(uname -m)-swift-linux-musl" --target Forwarding --scratch-path .build/static \
  $(cat Scripts/strict.flags)
