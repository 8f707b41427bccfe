#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests under a sanitizer: address or thread. Each build has its own folder, so that the ordinary build
# stays up to date. Further arguments go to `swift test`:
# sanitize.sh address --filter ForwardingMacrosTests
set -eu
cd "$(dirname "$0")/.."

# Fewer random signatures, kills and histories: these runs look for memory errors and races, and take several times
# as long.
export FORWARDING_SIGNATURES=${FORWARDING_SIGNATURES:-100}
export FORWARDING_HISTORIES=${FORWARDING_HISTORIES:-100}
export JOURNAL_KILLS=${JOURNAL_KILLS:-6}
export FORWARDING_TEST_MINUTES=${FORWARDING_TEST_MINUTES:-30}
# Builds and runs the tests: run <build option>... -- <option of swift test alone>...
run() {
  local build
  echo "Left out: tests of the tool, of pages and of the compiler's messages, which start programs without the sanitizer."
  read -ra build <Scripts/strict.flags
  while [ "$1" != -- ]; do build+=("$1"); shift; done
  shift
  swift build --product swift-forwardingPackageTests "${build[@]}"
  Scripts/tests.sh --skip-build --disable-xctest "${build[@]}" --skip '^(ForwardToolTests|RepositoryTests)\.|(PublicAPI|RefusedSource|ProxySource)Tests' "$@"
}

build=${1:-}
shift || true
case "$build" in
  address)
    # LeakSanitizer reports memory of the test runner itself. Tests count the lifetimes of objects instead.
    export ASAN_OPTIONS=detect_leaks=0
    # A checked build has few hold slots, so that rare paths run often, and poisoned frames. The C core has UBSan,
    # too, which traps, because Swift has no UBSan runtime.
    run --sanitize=address --scratch-path .build/address -Xcc -DFWD_CHECKED \
      -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined -- "$@"
    ;;
  thread)
    # Tests of journals fork, and the child processes have threads.
    export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0
    run --sanitize=thread --scratch-path .build/thread -- "$@"
    ;;
  *)
    echo "usage: sanitize.sh address | thread [what swift test takes]" >&2
    exit 64
    ;;
esac
