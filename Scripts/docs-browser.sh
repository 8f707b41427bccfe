#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs-browser.sh [FOLDER]   reads the site of `make docs` in a headless browser: titles, navigation and texts of
#                            the index, of pages, of types and of a tutorial. With a folder, leaves a picture of
#                            each kind of page there: wide, dark, and as a telephone shows it.
set -eu
cd "$(dirname "$0")/.."
site=.build/docs/site
pictures=${1:-}
[ -e $site/documentation/index.html ] || { echo "docs-browser.sh: there is no site; run 'make docs'" >&2; exit 1; }
browser=
for name in chromium chromium-browser google-chrome chrome; do
  browser=$(command -v "$name" || true)
  [ -z "$browser" ] || break
done
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
  echo "docs-browser.sh: skipped, because there is no chromium or no python3 (Scripts/setup.sh check)"
  exit 0
fi

folder=$(mktemp -d)
python3 -u -m http.server --bind 127.0.0.1 --directory $site 0 >"$folder/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$folder"' EXIT
port=
for _ in $(seq 100); do
  port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$folder/log" | head -1)
  [ -z "$port" ] || break
  sleep 0.1
done
[ -n "$port" ] || { cat "$folder/log" >&2; exit 1; }

# A browser cannot start its sandbox as root; this one reads nothing but the site.
browse() {
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --user-data-dir="$folder/user" --virtual-time-budget=20000 --hide-scrollbars "$@" 2>/dev/null
}

# Reads a page as it is drawn, and looks for texts in it: shows <page> <text>...
shows() {
  local page=$1 text
  shift
  browse --window-size=1400,1000 --dump-dom "http://127.0.0.1:$port$page" >"$folder/page.html"
  for text in "$@"; do
    grep -qF -- "$text" "$folder/page.html" || {
      echo "docs-browser.sh: $page does not show: $text" >&2
      exit 1
    }
  done
  echo "docs-browser.sh: $page shows its title, its navigation and its text"
}

# The index leads to each library.
libraries=()
while read -r library; do libraries+=(">$library<"); done <.build/docs/libraries
shows /documentation/ '<title>swift-forwarding' "${libraries[@]}"
delegates=/documentation/forwarding/page-from-your-protocol-to-a-multicast-delegate
shows /documentation/forwarding '<title>Forwarding' 'class="navigator' "href=\"$delegates\"" \
  'Have several delegates of a protocol'
shows $delegates '<title>From your protocol to a multicast delegate' 'class="navigator' 'Five minutes' \
  'Failing closed'
shows /documentation/forwarding/multicast '<title>Multicast' 'class="navigator' 'Many objects of one protocol'
shows /tutorials/forwarding/from-a-protocol-to-a-multicast-delegate \
  '<title>From a protocol to a multicast delegate' 'give the session its face' 'main.swift' 'Await a requirement'

[ -n "$pictures" ] || exit 0
mkdir -p "$pictures"
for page in documentation documentation/forwarding "${delegates#/}" documentation/forwarding/multicast \
  tutorials/forwarding/from-a-protocol-to-a-multicast-delegate; do
  name=$(basename "$page")
  browse --window-size=1400,1000 --screenshot="$pictures/$name-wide.png" "http://127.0.0.1:$port/$page/"
  browse --window-size=1400,1000 --blink-settings=preferredColorScheme=0 --force-dark-mode \
    --screenshot="$pictures/$name-dark.png" "http://127.0.0.1:$port/$page/"
  browse --window-size=500,900 --screenshot="$pictures/$name-telephone.png" "http://127.0.0.1:$port/$page/"
done
