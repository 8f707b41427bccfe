#!/usr/bin/env bash
# demo-remote.sh [PROGRAM]   objects of one protocol in four processes, with a NATS server between them on a port of
#                            loopback that it chooses. PROGRAM is Snippets/RemoteStations.swift, which is built
#                            unless it is given. Ends all that it started, also at ^C.
set -eu
cd "$(dirname "$0")/.."

program=${1:-}
if [ -z "$program" ]; then
  swift build --traits Macros,NATS --product RemoteStations >&2
  program=.build/debug/RemoteStations
fi
server=$(PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v nats-server) || {
  echo "there is no nats-server: Scripts/setup.sh nats" >&2
  exit 1
}

folder=$(mktemp -d)
started=()
finish() {
  # The server last, so that nobody misses it.
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[i]}" 2>/dev/null || true; done
  wait
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Port -1 is any that is free; the file says which, once the server listens.
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
# Waited for in this way, a signal does not wait for it. It kills one of the others, which the shell would tell.
{ wait $!; } 2>/dev/null
