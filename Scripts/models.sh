#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the models of Tests/Models exhaustively, and that each of them detects a left-out part.
set -eu
cd "$(dirname "$0")/../Tests/Models"
command -v spin >/dev/null 2>&1 || { echo "models.sh: there is no 'spin'; run 'Scripts/setup.sh check'" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
models=$PWD

# Prints the number of errors that the search finds, and the number of states that it visits:
# search <model> [<name to define>]...
search() {
  local model=$1 name
  local -a defined=()
  shift
  for name in "$@"; do defined+=("-D$name"); done
  (
    cd "$folder"
    cp "$models/$model" model.pml
    spin ${defined[@]+"${defined[@]}"} -a model.pml >/dev/null
    cc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c
    ./pan -m1000000 -w24 >out 2>&1 || true
    if grep -q 'max search depth\|out of memory' out; then cat out >&2; exit 1; fi
    sed -n 's/.*errors: \([0-9]*\).*/\1/p; s/ *\([0-9]*\) states, stored.*/\1/p' out | tr '\n' ' '
  )
}

# Searches a model that has no error, or one in which the search must find one: check <right|wrong> <model> [<name>]...
check() {
  local expected=$1 errors states
  shift
  read -r errors states <<<"$(search "$@")"
  echo "$*: $states states, $errors errors"
  # A search that failed prints no numbers, or zero states.
  [[ $errors =~ ^[0-9]+$ && $states =~ ^[1-9][0-9]*$ ]] || { echo "models.sh: $* could not be searched" >&2; exit 1; }
  case $expected in
    right) [ "$errors" = 0 ] || { echo "models.sh: the model finds an error in $*" >&2; exit 1; } ;;
    wrong) [ "$errors" -gt 0 ] || { echo "models.sh: the model does not notice $*" >&2; exit 1; } ;;
  esac
}

check right hold.pml
for part in NO_FIRST_BARRIER NO_SECOND_BARRIER NO_MARK_CHECK NO_MARK_KEPT; do
  check wrong hold.pml $part
done
# Processors that reorder loads and stores, with membarrier and without it.
check right weak.pml
for part in NO_FIRST_BARRIER NO_SECOND_BARRIER NO_PUBLISH NO_RELEASE NO_CHECK; do
  check wrong weak.pml $part
done
check right weak.pml READER_BARRIERS
for part in NO_FIRST_BARRIER NO_SECOND_BARRIER NO_PUBLISH NO_RELEASE NO_CHECK NO_HOLD_BARRIER NO_RELEASE_BARRIER; do
  check wrong weak.pml READER_BARRIERS $part
done
check right place.pml
for part in NO_READER_BARRIER NO_WRITER_BARRIER; do
  check wrong place.pml $part
done
