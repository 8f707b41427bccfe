#!/usr/bin/env bash
# Runs `swift test` with what follows, and ends it after a while: a test that hangs is a failure with a name.
# FORWARDING_TEST_MINUTES is how long it may take; a machine that does nothing else needs two.
# The tests that took longest are listed at the end.
set -u
cd "$(dirname "$0")/.."
minutes=${FORWARDING_TEST_MINUTES:-20}
log=$(mktemp)
trap 'rm -f "$log" "$log.open"' EXIT

# A session of its own, whose processes are found again, whoever started them.
exec 3> >(tee "$log")
shown=$!
setsid swift test "$@" >&3 2>&1 &
tests=$!
exec 3>&-
# Who is interrupted takes the tests along.
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
# What their threads do, where a debugger tells: the lines of this package alone.
if command -v gdb >/dev/null; then
  for process in $(pgrep -s "$tests" -f xctest); do
    echo "Process $process:"
    gdb -p "$process" -batch -ex "thread apply all backtrace 40" 2>/dev/null |
      grep -E "^Thread | at .*/(Sources|Tests|CShims)/" | sed -E 's/^#([0-9]+) .* at /  /'
  done
fi
pkill -KILL -s "$tests"
exit 1
