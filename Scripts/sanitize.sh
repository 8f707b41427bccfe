#!/usr/bin/env bash
# Runs the tests under a sanitizer, or in another build: address, thread, checked or libffi.
# Each build has a folder of its own, so that the ordinary one stays warm. What follows the name goes to
# `swift test`: sanitize.sh address --filter FaceTests
set -eu
cd "$(dirname "$0")/.."

# Fewer random signatures: every one costs a compiler run, and what is looked for here is memory.
export FORWARDING_SIGNATURES=${FORWARDING_SIGNATURES:-100}
# The tests of faces need the trait. The tool's own tests start programs that no sanitizer sees, so they are left out.
tests=ConsumerTests,FaceTests,ForwardingActorsTests,ForwardingJournalTests,ForwardingRemoteTests,ForwardingTests
tests+=,ForwardingUndoTests,ForwardingWireTests,FuzzCorpusTests,InvocationTextTests,InvocationsTests,MainActorTests
tests+=,SpyTests,TypeEncodingsTests
# What follows `--` goes to `swift test` alone.
run() {
  local build=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do build+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  export FORWARDING_TESTS=$tests
  swift build --product swift-forwardingPackageTests --traits Macros "${build[@]}"
  Scripts/tests.sh --skip-build --disable-xctest --traits Macros "${build[@]}" "$@"
}

build=${1:-}
shift || true
case "$build" in
  address)
    # LeakSanitizer reports the test runner's own memory; lifetimes are counted by tests instead.
    export ASAN_OPTIONS=detect_leaks=0
    run --sanitize=address --scratch-path .build/address -- "$@"
    ;;
  thread)
    # Tests of journals fork, and the children have threads.
    export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0
    run --sanitize=thread --scratch-path .build/thread -- "$@"
    ;;
  checked)
    # Few holds, no pools, poisoned frames, and the C core with UBSan, which traps: Swift has no such
    # sanitizer.
    run --scratch-path .build/checked -Xcc -DFWD_CHECKED \
      -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined -- "$@"
    ;;
  libffi)
    # No sanitizer: the platform without a direct engine, as far as x86-64 can play it. The suites
    # named here call scalars, pointers and large structures only, which need no classes.
    tests=InvocationsTests
    run --scratch-path .build/libffi -Xcc -DFWD_WITHOUT_DIRECT_ENGINE -- \
      --filter '\.(InvocationTests|LifetimeTests|FunctionTableTests|CallbackTests)/' "$@"
    ;;
  *)
    echo "usage: sanitize.sh address | thread | checked | libffi [what swift test takes]" >&2
    exit 64
    ;;
esac
