#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh VERSION         checks all that a version must pass, and shows its notes. Writes nothing.
# release.sh VERSION --tag   the same, and then makes the tag. Pushes nothing.
# FORWARDING_CHECKED=1 leaves out `make check check-machines`, where it has passed for this commit.
set -eu
cd "$(dirname "$0")/.."
fail() {
  echo "release: $1" >&2
  exit 1
}
version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "a version is three numbers, as in: make release VERSION=0.1.0"

# The notes: the section of the changelog, up to the next one.
notes=$(awk -v head="## $version" '
  index($0, "## ") == 1 { inside = ($0 == head || index($0, head " ") == 1) ; next }
  inside' CHANGELOG.md)
[ -n "${notes//[[:space:]]/}" ] || fail "CHANGELOG.md has no section '## $version'"
grep -qE "^## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || fail "'## $version' in CHANGELOG.md has no date"
unreleased=$(awk '/^## / { inside = /Unreleased/; next } inside' CHANGELOG.md)
[ -z "${unreleased//[[:space:]]/}" ] || fail "CHANGELOG.md lists changes under '## Unreleased'"
grep -qF "from: \"$version\"" README.md || fail "README.md does not show 'from: \"$version\"'"
grep -qF "\"$version\"" bom.json || fail "bom.json describes another version"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
! git rev-parse -q --verify "refs/tags/$version" >/dev/null || fail "there is a tag $version already"

# Compares the public API with that of the last tag. Before 1.0 a minor version may break it.
last=$(git describe --tags --abbrev=0 --match '[0-9]*' 2>/dev/null || true)
if [ -z "$last" ]; then
  echo "release: there is no earlier tag, so no API to compare with"
elif swift package diagnose-api-breaking-changes "$last"; then
  echo "release: nothing of $last breaks"
elif [ "${last%.*}" = "${version%.*}" ]; then
  fail "a version with the same first numbers as $last may break nothing"
else
  echo "release: these changes must be in the changelog, under Changed or Removed"
  grep -qE '^### (Changed|Removed)' <<<"$notes" || fail "the notes list no change"
fi

if [ "${FORWARDING_CHECKED:-}" != 1 ]; then
  make check check-machines
fi
echo
echo "The notes of $version:"
echo "$notes"
if [ "${2:-}" = --tag ]; then
  git tag -a "$version" -m "$version" -m "$notes"
  echo "release: made the tag $version; push it with: git push origin $version"
else
  echo "release: all checks passed; nothing was written. Scripts/release.sh $version --tag makes the tag"
fi
