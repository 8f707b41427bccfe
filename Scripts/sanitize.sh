#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests under a sanitizer, or in a special build: address, thread, checked or libffi. Each build has
# its own folder, so that the ordinary build stays up to date. Further arguments go to `swift test`:
# sanitize.sh address --filter ForwardingMacrosTests
set -eu
cd "$(dirname "$0")/.."

# Fewer random signatures: each one costs a compiler run, and these runs look for memory errors.
export FORWARDING_SIGNATURES=${FORWARDING_SIGNATURES:-100}
# The tests of faces need the trait. The tool's own tests start programs without the sanitizer, so they are
# left out.
tests=ConsumerTests,ForwardingMacrosTests,ForwardingActorsTests,ForwardingJournalTests,ForwardingRemoteTests,ForwardingTests
tests+=,ForwardingUndoTests,ForwardingWireTests,FuzzCorpusTests,InvocationTextTests,InvocationsTests,MainActorTests
tests+=,ForwardingTestingTests,TypeEncodingsTests
# Builds and runs the tests: run <build option>... -- <option of swift test alone>...
run() {
  local build
  read -ra build <Scripts/strict.flags
  while [ $# -gt 0 ] && [ "$1" != -- ]; do build+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  export FORWARDING_TESTS=$tests
  swift build --product swift-forwardingPackageTests "${build[@]}"
  Scripts/tests.sh --skip-build --disable-xctest "${build[@]}" "$@"
}

build=${1:-}
shift || true
case "$build" in
  address)
    # LeakSanitizer reports memory of the test runner itself. Tests count the lifetimes of objects instead.
    export ASAN_OPTIONS=detect_leaks=0
    run --sanitize=address --scratch-path .build/address -- "$@"
    ;;
  thread)
    # Tests of journals fork, and the child processes have threads.
    export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0
    run --sanitize=thread --scratch-path .build/thread -- "$@"
    ;;
  checked)
    # Few hold slots, no pools, poisoned frames, and the C core with UBSan, which traps, because Swift has no
    # UBSan runtime.
    run --scratch-path .build/checked -Xcc -DFWD_CHECKED \
      -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined -- "$@"
    ;;
  libffi)
    # No sanitizer: simulates a platform without a direct engine, as far as x86-64 can. The suites named here
    # call only scalars, pointers and large structures, which need no register classes.
    tests=InvocationsTests
    run --scratch-path .build/libffi -Xcc -DFWD_WITHOUT_DIRECT_ENGINE -- \
      --filter '\.(InvocationTests|LifetimeTests|FunctionTableTests|CallbackTests)/' "$@"
    ;;
  *)
    echo "usage: sanitize.sh address | thread | checked | libffi [what swift test takes]" >&2
    exit 64
    ;;
esac
