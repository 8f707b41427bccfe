#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo-remote.sh [PROGRAM]   runs objects of one protocol in four processes, connected by a NATS server on a free
#                            loopback port. PROGRAM is a build of Snippets/RemoteStations.swift; without it, the
#                            script builds one. The script ends all processes that it started, also at ^C.
set -eu
cd "$(dirname "$0")/.."

program=${1:-}
if [ -z "$program" ]; then
  # shellcheck disable=SC2046
  # Otherwise the order of the traits is random, and another order compiles everything once more.
  SWIFT_DETERMINISTIC_HASHING=1 swift build --traits Macros,NATS --product RemoteStations $(cat Scripts/strict.flags) >&2
  program=.build/debug/RemoteStations
fi
server=$(PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v nats-server) || {
  echo "there is no nats-server: Scripts/setup.sh nats" >&2
  exit 1
}

folder=$(mktemp -d)
started=()
finish() {
  # The server is ended last, so that the clients do not report a lost connection.
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[i]}" 2>/dev/null || true; done
  wait
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Port -1 means any free port; the server writes the port to a file once it listens.
"$server" -a 127.0.0.1 -p -1 --ports_file_dir "$folder" >"$folder/log" 2>&1 &
started+=($!)
ports="$folder/nats-server_$!.ports"
until grep -qs nats:// "$ports"; do
  kill -0 "${started[0]}" 2>/dev/null || {
    cat "$folder/log" >&2
    exit 1
  }
  sleep 0.02
done
url=$(grep -o 'nats://[0-9.:]*' "$ports" | head -1)

"$program" serve north 12.5 "$url" >/dev/null &
started+=($!)
"$program" serve east 14 "$url" >/dev/null &
east=$!
started+=($east)
"$program" serve south 19.5 "$url" >/dev/null &
started+=($!)
"$program" tell "$url" $east &
started+=($!)
# A signal interrupts this `wait`. The redirection hides the shell's notice that one of the processes was
# killed.
{ wait $!; } 2>/dev/null
