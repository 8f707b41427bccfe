#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Replaces a part of other people's libraries by this package, and runs their tests and a benchmark before and
# after:
#   clients.sh [--if-present] [NAME…]    all clients of Examples/Clients, or those that are named
# The sources of a client are a folder of $CLIENTS, else of ../shared/clients, else a clone of the commit that
# its client.sh names. --if-present does not clone: it prints what it leaves out, and why.
# ROUNDS is how often the benchmarks run, before and after in turn (5). WORK is a folder where the builds stay; the
# next run with it builds only what has changed.
#
# A client is a folder with client.patch, the change of their sources as `git apply` takes it; limits, lines of
# a benchmark's row and the largest ratio of after to before; and client.sh, which this script calls with
#   about            prints lines `folder NAME`, `repository URL`, `commit HASH`, `packages DEBIAN-PACKAGES`
#   prepare FOLDER   adds what the tests and the benchmark need; the patch is applied after that
#   tests FOLDER     builds and runs their tests; prints a line `tests PASSED TOTAL`
#   bench FOLDER     builds and runs the benchmark once; prints lines `row NAME NANOSECONDS`
# FOLDER is a copy of their sources, and FOLDER/../swift-forwarding is this package.
set -eu
cd "$(dirname "$0")/.."
package=$PWD
rounds=${ROUNDS:-5}
may_clone=yes
if [ "${1:-}" = --if-present ]; then
  may_clone=no
  shift
fi
names=("$@")
if [ $# -eq 0 ]; then
  for client in Examples/Clients/*/client.sh; do names+=("$(basename "$(dirname "$client")")"); done
fi

if [ -n "${WORK:-}" ]; then
  mkdir -p "$WORK"
  work=$(cd "$WORK" && pwd)
  rm -f "$work/table"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

say() { printf 'clients: %s\n' "$*" >&2; }

# Prints the folder of a client's sources. Returns 1 if it would have to be cloned and may not, 2 if cloning failed.
sources() { # NAME
  local folder clone place
  folder=$(about "$1" folder)
  for place in ${CLIENTS:+"$CLIENTS"} ../shared/clients; do
    if [ -d "$place/$folder" ]; then
      (cd "$place/$folder" && pwd)
      return
    fi
  done
  [ "$may_clone" = yes ] || return 1
  clone="$work/clones/$folder"
  say "$1: fetching $(about "$1" commit) of $(about "$1" repository)"
  git init -q "$clone" >&2 &&
    git -C "$clone" fetch -q --depth 1 "$(about "$1" repository)" "$(about "$1" commit)" >&2 &&
    git -C "$clone" checkout -q FETCH_HEAD >&2 || return 2
  echo "$clone"
}

about() { # NAME KEY
  "Examples/Clients/$1/client.sh" about | sed -n "s/^$2 //p"
}

# Runs a command of a client, and keeps what it printed. If the command fails, shows it.
run() { # NAME COMMAND SIDE OUTPUT
  local folder
  folder=$(cd "$work/$1/$3/$(about "$1" folder)" && pwd -P)
  "Examples/Clients/$1/client.sh" "$2" "$folder" >"$4" 2>&1 && return
  say "$1: '$2' failed ($3):"
  tail -60 "$4" >&2
  return 1
}

# Prints the smallest figure of each row that the rounds of one side printed.
best() { # FOLDER SIDE
  cat "$1"/bench.*."$2" | awk '
    $1 == "row" { if (!($2 in least)) order[++count] = $2
                  if (!($2 in least) || $3 < least[$2]) least[$2] = $3 }
    END { for (i = 1; i <= count; i++) print order[i], least[order[i]] }'
}

# Puts a client's sources, with what its tests and benchmark need, into the folders of both sides.
prepare() { # NAME SOURCES
  local side folder needed state
  for needed in $(about "$1" packages); do
    dpkg -s "$needed" >/dev/null 2>&1 || Scripts/setup.sh clients || return 1
  done
  folder=$(about "$1" folder)
  # Nothing to do if the folders of an earlier run are of the same patch, benchmark and commit.
  state=$(find "Examples/Clients/$1" -type f ! -name README.md ! -name limits -print0 | sort -z | xargs -0 cat | cksum)
  [ "$(cat "$work/$1/state" 2>/dev/null)" != "$state" ] || return 0
  for side in before after; do
    rm -rf "${work:?}/$1/$side"
    mkdir -p "$work/$1/$side" &&
      ln -s "$package" "$work/$1/$side/swift-forwarding" &&
      cp -R "$2" "$work/$1/$side/$folder" &&
      chmod -R u+w "$work/$1/$side/$folder" &&
      run "$1" prepare $side "$work/$1/prepare.$side" || return 1
  done
  # Not as a part of a repository that may be around the folder.
  (cd "$work/$1/after/$folder" &&
    GIT_CEILING_DIRECTORIES=$(dirname "$PWD") git apply --whitespace=nowarn "$package/Examples/Clients/$1/client.patch") &&
    echo "$state" >"$work/$1/state"
}

# Fails if the benchmark could not be run. Failing tests are a matter of the table.
measure() { # NAME
  local name=$1 from side round
  from=$(sources "$name") || {
    [ $? -eq 1 ] || return 1
    say "$name is left out: there is no folder '$(about "$name" folder)' in ${CLIENTS:-../shared/clients}"
    return 0
  }
  prepare "$name" "$from" || return 1
  for side in before after; do
    say "$name: their tests, $side"
    run "$name" tests $side "$work/$name/tests.$side" || true
  done
  rm -f "$work/$name"/bench.*
  for ((round = 1; round <= rounds; round++)); do
    say "$name: benchmark, round $round of $rounds"
    for side in before after; do
      run "$name" bench $side "$work/$name/bench.$round.$side" || return 1
    done
  done
  show "$name" >>"$work/table"
}

# Prints the table of one client. A row whose ratio is above its limit is marked.
show() { # NAME
  local name=$1 before after
  before=$(sed -n 's/^tests //p' "$work/$name/tests.before" | tail -1)
  after=$(sed -n 's/^tests //p' "$work/$name/tests.after" | tail -1)
  printf '%s: their tests %s before, %s after; lines that went %d, that came %d\n' "$name" \
    "${before:-0 0}" "${after:-0 0}" \
    "$(grep -c '^-[^-]\|^-$' "Examples/Clients/$name/client.patch")" \
    "$(grep -c '^+[^+]\|^+$' "Examples/Clients/$name/client.patch")" |
    sed -E 's/tests ([0-9]+) ([0-9]+) before, ([0-9]+) ([0-9]+) after/tests \1 of \2 before, \3 of \4 after/'
  if [ "${after%% *}" -lt "${before%% *}" ] 2>/dev/null || [ -z "$after" ] || [ "${after#* }" != "${before#* }" ]; then
    echo "  FEWER TESTS PASSED THAN BEFORE"
  fi
  printf '  %-36s %12s %12s %8s %8s\n' row before after ratio limit
  join -j 1 <(best "$work/$name" before | sort) <(best "$work/$name" after | sort) >"$work/$name/rows"
  best "$work/$name" before | while read -r row _; do
    read -r _ from to < <(awk -v row="$row" '$1 == row' "$work/$name/rows")
    limit=$(awk -v row="$row" '$1 == row { print $2 }' "Examples/Clients/$name/limits")
    awk -v row="$row" -v from="$from" -v to="$to" -v limit="$limit" 'BEGIN {
      ratio = to / from
      printf "  %-36s %9.1f ns %9.1f ns %8.2f %8s%s\n", row, from, to, ratio, limit,
        (limit != "" && ratio > limit + 0) ? "  EXCEEDED" : ""
    }' || echo "  MISSING: $row"
  done
  awk '{ print $1 }' "Examples/Clients/$name/limits" | while read -r row; do
    grep -q "^$row " "$work/$name/rows" || echo "  MISSING: $row"
  done
}

status=0
for name in "${names[@]}"; do
  if [ ! -x "Examples/Clients/$name/client.sh" ]; then
    say "there is no client '$name'"
    exit 1
  fi
  measure "$name" || status=1
done
if [ -f "$work/table" ]; then
  echo
  cat "$work/table"
  ! grep -qE 'EXCEEDED|MISSING|FEWER TESTS' "$work/table" || status=1
fi
exit $status
