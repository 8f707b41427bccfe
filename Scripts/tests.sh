#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs `swift test` with the given arguments, and kills it after FORWARDING_TEST_MINUTES (20), so that a hanging
# test is reported by name. What failed stands at the end of a long log, where a reader looks.
set -u
cd "$(dirname "$0")/.."
minutes=${FORWARDING_TEST_MINUTES:-20}
log=$(mktemp)
# A process that a test ends or kills leaves its files here. They are removed with the folder.
# Other users need it too: some tests give up their rights.
TMPDIR=$(mktemp -d)
chmod 1777 "$TMPDIR"
export TMPDIR
trap 'rm -rf "$log" "$TMPDIR"' EXIT

# Tests run in their own session, so that every process they start can be found again.
setsid timeout --foreground $((minutes * 60)) swift test "$@" > >(tee "$log") 2>&1 &
tests=$!
trap 'pkill -KILL -s "$tests"; exit 130' INT TERM
wait "$tests"
status=$?
pkill -KILL -s "$tests"
sleep 0.2
if [ $status -eq 124 ]; then
  echo "The tests are not over after $minutes minutes. These began and did not end, as far as they have said:"
  awk '
    function name(line) { sub(/^[^"]*"/, "", line); sub(/"[^"]*$/, "", line); return line }
    / Test ".*" started\.$/ { open[name($0)] = 1 }
    / Test ".*" (with [0-9]+ test cases )?(passed|failed) after / {
      sub(/" (with [0-9]+ test cases )?(passed|failed) after .*/, "\""); delete open[name($0)]
    }
    END { for (test in open) print "  " test }
  ' "$log" | sort | head -40
elif [ $status -ne 0 ]; then
  echo "What failed, without the issues that are known:"
  grep -A 6 -E '^. Test .* recorded an issue' "$log" | cut -c 1-400 | head -60
fi
exit $status
