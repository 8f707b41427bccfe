#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs `swift test` with the given arguments, and kills it after a time limit, so that a hanging test is
# reported by name. FORWARDING_TEST_MINUTES is the limit (20); an idle machine needs four minutes. The slowest
# tests are listed at the end, and after them what failed: the end of a long log is what a reader sees.
set -u
cd "$(dirname "$0")/.."
minutes=${FORWARDING_TEST_MINUTES:-20}
log=$(mktemp)
# A process that a test ends or kills leaves its files here. They are removed with the folder.
# Other users need it too: some tests give up their rights.
TMPDIR=$(mktemp -d)
chmod 1777 "$TMPDIR"
export TMPDIR
trap 'rm -rf "$log" "$log.open" "$TMPDIR"' EXIT

# Tests run in their own session, so that every process they start can be found again.
exec 3> >(tee "$log")
shown=$!
setsid swift test "$@" >&3 2>&1 &
tests=$!
exec 3>&-
# An interrupt also kills the tests.
trap 'pkill -KILL -s "$tests"; exit 130' INT TERM

for ((second = 0; second < minutes * 60; second++)); do
  kill -0 "$tests" 2>/dev/null || break
  sleep 1
done
if ! kill -0 "$tests" 2>/dev/null; then
  wait "$tests"
  status=$?
  wait "$shown"
  echo
  echo "These tests took longest, in seconds; they run at the same time as others:"
  sed -nE 's/^.* Test "(.*)" (with [0-9]+ test cases )?(passed|failed) after ([0-9.]+) seconds.*$/\4 \1/p' "$log" |
    sort -rn | head -8 | awk '{ time = $1; $1 = ""; printf "  %7.1f %s\n", time, $0 }'
  if [ $status -ne 0 ]; then
    echo
    echo "What failed, without the issues that are known:"
    grep -A 6 -E '^. Test .* recorded an issue' "$log" | cut -c 1-400 | head -60
  fi
  exit $status
fi

echo
echo "The tests are not over after $minutes minutes. These began and did not end, as far as they have said:"
awk '
  function name(line) { sub(/^[^"]*"/, "", line); sub(/"[^"]*$/, "", line); return line }
  / Test ".*" started\.$/ { open[name($0)] = 1 }
  / Test ".*" (with [0-9]+ test cases )?(passed|failed) after / {
    sub(/" (with [0-9]+ test cases )?(passed|failed) after .*/, "\""); delete open[name($0)]
  }
  END { for (test in open) print "  " test }
' "$log" | sort >"$log.open"
head -40 "$log.open"
[ "$(wc -l <"$log.open")" -le 40 ] || echo "  and others: $(wc -l <"$log.open") in all"
# Backtraces of their threads, if there is a debugger: only the lines of this package.
if command -v gdb >/dev/null; then
  for process in $(pgrep -s "$tests" -f xctest); do
    echo "Process $process:"
    gdb -p "$process" -batch -ex "thread apply all backtrace 40" 2>/dev/null |
      grep -E "^Thread | at .*/(Sources|Tests|CShims)/" | sed -E 's/^#([0-9]+) .* at /  /'
  done
fi
pkill -KILL -s "$tests"
exit 1
