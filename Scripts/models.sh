#!/usr/bin/env bash
# Checks the models of Tests/Models exhaustively, and that each of them detects a left-out part.
set -eu
cd "$(dirname "$0")/../Tests/Models"
command -v spin >/dev/null 2>&1 || { echo "models.sh: there is no 'spin'; run 'Scripts/setup.sh check'" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
models=$PWD

# Prints the number of errors that the search finds, and the number of states that it visits.
search() {
  (
    cd "$folder"
    cp "$models/$1" model.pml
    spin ${2:+"-D$2"} -a model.pml >/dev/null
    cc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c
    ./pan -m1000000 -w24 >out 2>&1 || true
    if grep -q 'max search depth\|out of memory' out; then cat out >&2; exit 1; fi
    sed -n 's/.*errors: \([0-9]*\).*/\1/p; s/ *\([0-9]*\) states, stored.*/\1/p' out | tr '\n' ' '
  )
}

# Whether the search took place: a failed one prints no numbers, or zero states.
was_searched() { [[ $errors =~ ^[0-9]+$ && $states =~ ^[1-9][0-9]*$ ]]; }

read -r errors states <<<"$(search hold.pml)"
echo "hold.pml: $states states, $errors errors"
was_searched || { echo "models.sh: hold.pml could not be searched" >&2; exit 1; }
[ "$errors" = 0 ] || { echo "models.sh: the model finds an error in hold.pml" >&2; exit 1; }
for part in NO_FIRST_BARRIER NO_SECOND_BARRIER NO_MARK_CHECK NO_MARK_KEPT; do
  read -r errors states <<<"$(search hold.pml "$part")"
  echo "hold.pml with $part: $states states, $errors errors"
  was_searched || { echo "models.sh: hold.pml with $part could not be searched" >&2; exit 1; }
  [ "$errors" -gt 0 ] || { echo "models.sh: the model does not notice $part" >&2; exit 1; }
done
