#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spdx.sh check   fails if some source files have a line with their licence, and others have none
# spdx.sh add     writes the line into each source file that has none
# The data of tests and the programs of tutorials have none, because compilers and readers see them as they are.
set -eu
cd "$(dirname "$0")/.."
line='SPDX-License-Identifier: Apache-2.0'

files() {
  git ls-files -- '*.swift' '*.c' '*.h' '*.S' '*.sh' | grep -v -e '^Tests/Data/' -e '\.docc/'
}
# The licence is in one of the first two lines: a script and a manifest begin with another one.
lacks() { ! head -2 "$1" | grep -qF "$line"; }

case "${1:-}" in
  check)
    with=0
    missing=()
    while read -r file; do
      if lacks "$file"; then missing+=("$file"); else with=$((with + 1)); fi
    done < <(files)
    if [ "$with" -gt 0 ] && [ "${#missing[@]}" -gt 0 ]; then
      printf 'spdx.sh: no licence in %s\n' "${missing[@]}" >&2
      exit 1
    fi
    ;;
  add)
    while read -r file; do
      lacks "$file" || continue
      mark='//'
      case "$file" in *.sh) mark='#' ;; esac
      case "$(head -1 "$file")" in
        '#!'* | '// swift-tools-version'*) sed -i "1a $mark $line" "$file" ;;
        *) sed -i "1i $mark $line" "$file" ;;
      esac
    done < <(files)
    ;;
  *)
    echo "usage: spdx.sh check | add" >&2
    exit 64
    ;;
esac
